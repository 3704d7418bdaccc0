package dashboard

import (
	"os"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

func TestGrafanaKnowsEveryKey(t *testing.T) {
	known := cog.NewRuntime()
	known.RegisterDataqueryVariant(prometheus.VariantConfig())
	known.RegisterPanelcfgVariant(stat.VariantConfig())
	known.RegisterPanelcfgVariant(timeseries.VariantConfig())
	data, err := os.ReadFile("../../grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board dashboard.Dashboard
	for _, err := range []error{board.UnmarshalJSONStrict(data), board.Validate()} {
		if found(err) {
			t.Error(err)
		}
	}
	if len(board.Panels) < 10 {
		t.Errorf("it has %d panels", len(board.Panels))
	}
	wrong := strings.Replace(string(data), `"gridPos"`, `"gridPosition"`, 1)
	if err := new(dashboard.Dashboard).UnmarshalJSONStrict([]byte(wrong)); !found(err) {
		t.Error("a wrong key was not found")
	}
}

// found reports whether an error says something: the SDK returns lists of errors that may be empty.
func found(err error) bool { return err != nil && err.Error() != "" }
