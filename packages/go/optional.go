package payhook

import "encoding/json"

// Optional is a field that a request can leave out, set, or clear with null. The zero value leaves it out.
type Optional[Value any] struct {
	value *Value
	isSet bool
}

// Set is a field with this value.
func Set[Value any](value Value) Optional[Value] { return Optional[Value]{&value, true} }

// Null is a field that is cleared.
func Null[Value any]() Optional[Value] { return Optional[Value]{nil, true} }

// Get returns the value; nil if it is null or left out.
func (field Optional[Value]) Get() *Value { return field.value }

// IsZero says whether the field is left out.
func (field Optional[Value]) IsZero() bool { return !field.isSet }

// MarshalJSON writes the value, or null.
func (field Optional[Value]) MarshalJSON() ([]byte, error) { return json.Marshal(field.value) }

// UnmarshalJSON reads a value, or null.
func (field *Optional[Value]) UnmarshalJSON(text []byte) error {
	field.isSet = true
	return json.Unmarshal(text, &field.value)
}

// Ptr returns a pointer to a value, for fields that a request can leave out.
func Ptr[Value any](value Value) *Value { return &value }
