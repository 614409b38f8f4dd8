// Package shop names the library of the clients that oapi-codegen generates, so that `go mod download` gets it.
package shop

import _ "github.com/oapi-codegen/runtime"
