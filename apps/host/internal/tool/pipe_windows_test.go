package tool

import "testing"

func makePipe(*testing.T, string) {}
