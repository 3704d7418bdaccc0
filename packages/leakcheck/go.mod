module github.com/scorel/scorel/packages/leakcheck

go 1.26.0
