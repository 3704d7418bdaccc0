module github.com/scorel/scorel/docs/examples/go

go 1.26.0

require github.com/scorel/scorel/packages v0.0.0

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/flynn/noise v1.1.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/scorel/scorel/packages => ../../../packages
