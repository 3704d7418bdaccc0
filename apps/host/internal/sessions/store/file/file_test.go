package file_test

import (
	"log/slog"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		dir := t.TempDir()
		return func(*testing.T) store.Provider { return file.New(dir, slog.New(slog.DiscardHandler)) }
	})
}
