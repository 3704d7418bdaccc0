module github.com/scorel/scorel/packages/atomicfile

go 1.26
