package moves

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

var moveName = regexp.MustCompile(`^mov_[0-9a-f]{32}$`)

// expected checks an offer to a device and returns the record of its move.
func expected(device ident.ID, offer api.MoveOffer, projectID string) (record, error) {
	r := record{
		ID: offer.MoveID, SessionID: offer.SessionID, ProjectID: projectID, Incoming: true, State: api.MoveSending, Offer: offer,
		From: ident.NewID(ident.KindDevice, ident.Public(offer.From)), To: device, Client: ident.NewID(ident.KindClient, ident.Public(offer.Client)), CreatedAt: time.Now().UnixMilli(),
	}
	bad := func(what string) (record, error) {
		return r, api.Errorf(api.KindBadRequest, "the offer of the move is invalid: %s", what)
	}
	for i, item := range offer.Items {
		switch {
		case item.Kind == api.MoveLog && store.CheckName(item.SessionID) == nil && !slices.Contains(r.Family, item.SessionID):
			r.Family = append(r.Family, item.SessionID)
		case item.Kind == api.MoveFiles && i > 0 && offer.Items[i-1].Kind == api.MoveLog && offer.Items[i-1].SessionID == item.SessionID:
		case item.Kind == api.MoveTree && i > 0 && i == len(offer.Items)-1 && item.SessionID == offer.SessionID:
		default:
			return bad(fmt.Sprintf("item %d", i))
		}
		if item.Size < 0 || item.Size > api.MaxMoveItem {
			return bad("the size of an item")
		}
		if item.Size > maxItem(item.Kind) {
			return r, api.Errorf(api.KindTooLarge, "the session is too large to be moved: a part has %d MiB, the limit is %d", item.Size>>20, maxItem(item.Kind)>>20)
		}
	}
	switch {
	case !moveName.MatchString(offer.MoveID):
		return bad("its id")
	case len(r.Family) == 0 || r.Family[0] != offer.SessionID:
		return bad("the session comes first")
	case r.From == r.To:
		return bad("it comes from this host")
	case r.total() > api.MaxMoveBytes:
		return r, api.Errorf(api.KindTooLarge, "the session is too large to be moved: %d bytes, the limit is %d", r.total(), int64(api.MaxMoveBytes))
	}
	return r, nil
}
