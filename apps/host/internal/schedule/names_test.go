package schedule

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestANameIsOneSchedule: a project has a name once. Two schedules with one name, which earlier versions
// made, can still be changed.
func TestANameIsOneSchedule(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	first, second := w.add("nightly", daily("UTC")), w.add("weekly", daily("UTC"))
	var spec api.ScheduleSpec
	w.inside(func() { spec = w.records[second].Spec })
	spec.Name = "nightly"
	save := func(r api.SaveScheduleRequest) (err error) {
		r.Spec = spec
		w.inside(func() {
			if r.ID == "" {
				_, err = w.create("host", r)
			} else {
				_, err = w.replace("host", r)
			}
		})
		return err
	}
	wantKind(t, save(api.SaveScheduleRequest{ProjectID: "prj", ClientKey: "new"}), api.KindConflict)
	wantKind(t, save(api.SaveScheduleRequest{ProjectID: "prj", ID: second}), api.KindConflict)
	for name, r := range map[string]api.SaveScheduleRequest{
		"of another project": {ProjectID: "other", ClientKey: "new"}, "repeated": {ProjectID: "prj", ClientKey: "nightly"}, "its own": {ProjectID: "prj", ID: first},
	} {
		if err := save(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.inside(func() {
		one := w.records[second]
		one.Spec.Name = "nightly"
		w.records[second] = one
	})
	if err := save(api.SaveScheduleRequest{ProjectID: "prj", ID: second}); err != nil {
		t.Errorf("an earlier duplicate: %v", err)
	}
}
