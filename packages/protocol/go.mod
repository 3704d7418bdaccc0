module github.com/scorel/scorel/packages/protocol

go 1.26.0

require github.com/flynn/noise v1.1.0

require (
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
