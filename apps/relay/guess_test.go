package relay_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
)

func TestGuessingACodeIsHopeless(t *testing.T) {
	doc, err := os.ReadFile("../../docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, nodes := range []int{1, relay.MostNodes} {
		g := relay.Limits{}.Guessing(nodes)
		if g.Secret >= relay.MaxGuess || g.Secret <= 0 {
			t.Errorf("%d nodes: a code is guessed with a chance of %g, want under %g", nodes, g.Secret, relay.MaxGuess)
		}
		row := fmt.Sprintf("| %d | %d | %.1e | %.2g %% | %.2g %% |", nodes, g.Attempts, g.Secret, 100*g.Slot, 100*g.SlotAlone)
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/threat-model.md lacks the row\n%s", row)
		}
	}
}

// The formula, by hand: 10 + 600 s / 60 s attempts on each of 2 nodes are 40, of
// which each meets one of at most 40 open codes.
func TestGuessingByHand(t *testing.T) {
	l := relay.Limits{AllPairs: relay.Rate{Burst: 10, Every: time.Minute}, Pairs: relay.Rate{Burst: 1, Every: 10 * time.Minute}}
	g := l.Guessing(2)
	if g.Attempts != 40 || g.Alone != 4 {
		t.Fatalf("%d attempts, %d of one address; want 40 and 4", g.Attempts, g.Alone)
	}
	for name, pair := range map[string][2]float64{
		"secret":     {g.Secret, 40 * 40 / math.Pow(2, 60)},
		"slot":       {g.Slot, 1 - math.Pow(1-math.Pow(2, -20), 40)},
		"slot alone": {g.SlotAlone, 4 / math.Pow(2, 20)},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-5*pair[1] {
			t.Errorf("%s: %g, want %g", name, pair[0], pair[1])
		}
	}
	// Beyond the space of slots only the number of guesses grows.
	wild := relay.Limits{AllPairs: relay.Rate{Burst: 1 << 30, Every: time.Second}}.Guessing(1)
	if want := float64(wild.Attempts) / math.Pow(2, 41); math.Abs(wild.Secret-want) > 1e-3*want {
		t.Errorf("wild: %g, want %g", wild.Secret, want)
	}
}

func TestLimitsThatLetCodesBeGuessedAreRefused(t *testing.T) {
	cfg := relay.Config{Store: relaytest.OpenStore(t, t.TempDir()+"/relay.db")}
	cfg.Limits.AllPairs = relay.Rate{Burst: 1 << 30, Every: time.Second}
	if _, err := relay.New(cfg); err == nil || !strings.Contains(err.Error(), "guessed with a chance of 4.9e-04") {
		t.Fatalf("got %v", err)
	}
}
