module github.com/scorel/scorel/apps/web

go 1.26

ignore ./node_modules

ignore ./docs/node_modules
