package mysql_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
	"github.com/scorel/scorel/packages/testdb"
)

// BenchmarkProvider uses a server that syncs every commit to disk.
func BenchmarkProvider(b *testing.B) {
	p := open(b, testdb.Crashable(b, testdb.KindMariaDB).DSN)
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
	storetest.Bench(b, p)
}
