module first_call

go 1.24

require payhook v0.0.0

replace payhook => ../../packages/go
