package ledger_test

import (
	"errors"
	"testing"

	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func job() item {
	return item{
		"id": text("charges#k"), "status": text("COMPLETED"), "owner": text("o1"), "claims": number("1"),
		"settled": number("1"), "expiration": number("1800000000"), "in_progress_expiration": number("1700000000000"),
	}
}

func TestForgetRefusesAChangedItem(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(item){
		"another status":     func(i item) { i["status"] = text("INPROGRESS") },
		"another owner":      func(i item) { i["owner"] = text("o2") },
		"a new epoch":        func(i item) { i["epoch"] = number("1") },
		"a longer lease":     func(i item) { i["in_progress_expiration"] = number("1700000000001") },
		"a longer life":      func(i item) { i["expiration"] = number("1800000001") },
		"another claim":      func(i item) { i["claims"] = number("2") },
		"settled in between": func(i item) { i["settled"] = number("2") },
		"a dead letter":      func(i item) { i["dlq_message_id"] = text("d") },
		"no owner any more":  func(i item) { delete(i, "owner") },
		"no lease any more":  func(i item) { delete(i, "in_progress_expiration") },
		"a Powertools claim": func(i item) { delete(i, "owner"); delete(i, "claims"); delete(i, "settled") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			table := d.ledger("id")
			d.put(job())
			read := d.get(table, "charges#k")
			changed := job()
			change(changed)
			d.put(changed)
			if err := table.Forget(t.Context(), read); !errors.Is(err, ledger.ErrChanged) {
				t.Errorf("forgotten all the same: %v", err)
			}
			read = d.get(table, "charges#k")
			if read == nil {
				t.Fatal("the job is gone")
			}
			if err := table.Forget(t.Context(), read); err != nil || d.get(table, "charges#k") != nil {
				t.Errorf("read again it is not forgotten: %v", err)
			}
		})
	}
}

func TestForgetSucceedsAfterALostResponse(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	table := d.ledger("id")
	d.put(job())
	read := d.get(table, "charges#k")
	d.server.Inject(localaws.Fault{Operation: "DeleteItem", Times: 1, AfterEffect: true})
	if err := table.Forget(t.Context(), read); err != nil {
		t.Errorf("the second try finds nothing, which is right: %v", err)
	}
	d.put(item{"id": text("charges#k")})
	d.server.Inject(localaws.Fault{Operation: "DeleteItem", Times: 1, Code: "AccessDeniedException"})
	read = d.get(table, "charges#k")
	if err := table.Forget(t.Context(), read); err == nil || errors.Is(err, ledger.ErrChanged) {
		t.Errorf("a refused delete gives %v", err)
	}
	if err := table.Forget(t.Context(), read); err != nil || d.get(table, "charges#k") != nil {
		t.Errorf("an item with nothing but its key: %v", err)
	}
}
