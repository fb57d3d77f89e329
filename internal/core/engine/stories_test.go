package engine

import (
	"strings"
	"testing"
	"testing/synctest"
)

// Stories are read line by line:
//
//	ring a 0612345678 name=… via=… queue=…   a call; a@bare, a@cmd, a@url use other sources
//	caller a 0201234567              another caller on it
//	answer a, end a missed           end a elsewhere by=…: who answered there
//	hub holds, hub goes on           the hub holds its answers back
//	hub fails hub_slow, hub works    it has another answer
//	browser …                        the same of browsers
//	asked 3                          how many lookups there were
//	crowd 10                         so many other callers, of whom each hangs up
//	on 2                             how many calls are on
//	outgoing off                     another setting
//	forget                           the last call's caller is forgotten
//	wait 61s, sleep 8h, lost @bare
//	hover 1, leave 1, open 1 0, not-this 1 0, undo 1, close 1, unfold 1, look-up 1
//	show-last, show 2               the card of the last call, of the one before it
//	first …                          the caller on the hotkey's card
//	last …                           the last call's number
//	keyboard 1, keyboard-gone 1
//	shows …                          the cards, with " / " between them, or nothing
//	opened …                         what browsers were asked to open since
//	history …                        the last entry: name and how it ended
//	remembered …                     the choice for the number of card 1
//	chosen +31201234567 Zwart        an earlier choice
//	same card 1, another card 1      compared with the first one of the story
var storyTexts = map[string]string{
	"blind transfer": `
		ring a 101 name=Receptie
		shows 101 internal ringing
		caller a 0612345678 name=Vries via=Receptie
		shows 0612345678 Vries ringing via=Receptie
		last 0612345678
		answer a
		shows 0612345678 Vries answered via=Receptie
		end a
		history Vries ended`,
	"from one queue to another": `
		ring a 0612345678 name=Vries queue=Schade
		shows 0612345678 Vries ringing on=Schade
		ring a 0612345678 queue=Claims
		shows 0612345678 Vries ringing on=Claims
		answer a
		shows 0612345678 Vries answered on=Claims`,
	"transfer after talking": `
		ring a 101 name=Receptie
		answer a
		wait 30s
		shows 101 internal answered
		caller a 0201234567
		shows 0201234567 Aalst+Bakker+Zwart answered
		wait 59s
		shows 0201234567 Aalst+Bakker+Zwart answered
		wait 2s
		shows 0201234567 Aalst+Bakker+Zwart answered strip
		end a
		history - ended`,
	"an outgoing call that is passed on, before anybody has called": `
		call a 101
		caller a 0201234567
		shows 0201234567 Aalst+Bakker+Zwart ringing strip
		last nobody`,
	"passed on under the pointer: the person at once, the size later": `
		ring a 101
		answer a
		wait 61s
		shows 101 internal answered strip
		hover 1
		caller a 0612345678
		shows 0612345678 Vries answered strip
		leave 1
		wait 900ms
		shows 0612345678 Vries answered strip
		wait 200ms
		shows 0612345678 Vries answered`,
	"passed on to somebody whose last call is still there": `
		ring a 0612345678
		answer a
		ring b 101
		end a
		shows 0612345678 Vries over strip / 101 internal ringing
		caller b 0612345678
		shows 0612345678 Vries ringing x2`,
	"from the ring to the end": `
		ring a 0612345678
		answer a
		wait 59s
		shows 0612345678 Vries answered
		wait 2s
		shows 0612345678 Vries answered strip
		wait 3h
		shows 0612345678 Vries answered strip
		end a
		wait 19s
		shows 0612345678 Vries over strip
		wait 2s
		shows nothing`,
	"a colleague takes it": `
		ring a 0612345678
		end a elsewhere by=Anna
		shows nothing
		history Vries elsewhere by=Anna`,
	"a ring-only phone that says why it ended": `
		ring a@cmd 0612345678
		end a@cmd missed
		shows nothing`,
	"a ring and an end, and no more": `
		ring a@cmd 0612345678
		end a@cmd
		shows 0612345678 Vries reported
		wait 21s
		shows nothing
		ring b@cmd 0612345678
		wait 61s
		shows 0612345678 Vries reported strip x2
		wait 3h
		ring c@cmd 0687654321
		shows 0612345678 Vries reported strip x2 / 0687654321 Jansen ringing
		end b@cmd
		wait 21s
		shows 0687654321 Jansen ringing`,
	"only the ring: until the next call": `
		ring a@cmd 0612345678
		wait 61s
		shows 0612345678 Vries reported strip
		ring b@cmd 0687654321
		shows 0687654321 Jansen ringing`,
	"only the ring: unfolded at the last moment": `
		ring a@cmd 0612345678
		wait 10m55s
		unfold 1
		wait 15s
		shows 0612345678 Vries reported
		wait 10s
		shows nothing`,
	"only the ring: the same caller again keeps the card": `
		ring a@cmd 0612345678
		shows 0612345678 Vries ringing
		wait 16s
		ring b@cmd 0612345678
		shows 0612345678 Vries ringing x2
		same card 1`,
	"the same caller after the call keeps the card": `
		ring a 0612345678
		answer a
		end a
		ring b 0612345678
		shows 0612345678 Vries ringing x2
		same card 1`,
	"called, and called back": `
		call a 0612345678
		answer a
		end a
		shows 0612345678 Vries over strip
		ring b 0612345678
		shows 0612345678 Vries ringing
		another card 1`,
	"who stays unknown is nobody who rang before": `
		ring a@cmd anonymous
		wait 16s
		ring b@cmd anonymous
		shows withheld ringing / withheld ringing`,
	"a placeholder is nobody who rang before": `
		ring a@cmd {number}
		wait 16s
		ring b@cmd {number}
		shows ringing / ringing`,
	"two calls from one number at once": `
		ring a 0612345678
		wait 6s
		ring b@bare 0612345678
		shows 0612345678 Vries ringing / 0612345678 Vries ringing x2`,
	"a repeated ring does not open what was closed": `
		ring a@cmd 0612345678
		close 1
		wait 5s
		ring a@cmd 0612345678
		shows nothing
		wait 16s
		ring b@cmd 0612345678
		shows 0612345678 Vries ringing x2`,
	"answered late on a phone that seemed to tell the ring only": `
		ring a@cmd 0612345678
		wait 70s
		shows 0612345678 Vries reported strip
		answer a@cmd
		shows 0612345678 Vries answered
		end a@cmd
		shows 0612345678 Vries over
		history Vries ended`,
	"a phone that tells answers and no end": `
		ring a@cmd 0612345678
		answer a@cmd
		wait 61s
		shows 0612345678 Vries reported strip
		wait 10m1s
		shows nothing`,
	"a link that is lost in the middle of a call": `
		ring a@bare 0612345678
		answer a@bare
		wait 2h
		shows 0612345678 Vries answered strip
		lost @bare
		shows 0612345678 Vries reported strip
		wait 9m
		shows 0612345678 Vries reported strip
		end a@bare
		shows 0612345678 Vries over strip
		wait 21s
		shows nothing`,
	"a link that comes back in the middle of a call": `
		ring a@bare 0612345678
		answer a@bare
		lost @bare
		wait 61s
		shows 0612345678 Vries reported strip
		answer a@bare 0612345678
		shows 0612345678 Vries answered strip
		wait 30m
		shows 0612345678 Vries answered strip
		end a@bare
		wait 21s
		shows nothing`,
	"a link that comes back while it rings": `
		ring a@bare 0612345678
		lost @bare
		wait 61s
		shows 0612345678 Vries reported strip
		ring a@bare 0612345678
		shows 0612345678 Vries ringing
		wait 30m
		shows 0612345678 Vries ringing
		end a@bare missed
		shows nothing`,
	"passed on when a lost link is back": `
		ring a@bare 101
		lost @bare
		wait 61s
		shows 101 internal reported strip
		caller a@bare 0612345678
		shows 0612345678 Vries ringing
		wait 61s
		shows 0612345678 Vries ringing
		answer a@bare
		wait 2h
		shows 0612345678 Vries answered strip`,
	"the last call comes back": `
		ring a 0612345678
		end a missed
		shows nothing
		show-last
		shows 0612345678 Vries reported
		wait 59s
		shows 0612345678 Vries reported
		wait 2s
		shows nothing
		show-last
		ring b 0687654321
		shows 0687654321 Jansen ringing`,
	"any of the last calls comes back": `
		ring a 0612345678
		answer a
		end a
		ring b 0687654321
		end b missed
		wait 61s
		shows nothing
		show 2
		shows 0612345678 Vries over
		show 1
		shows 0612345678 Vries over / 0687654321 Jansen reported
		wait 61s
		shows nothing
		ring c 101
		show 3
		shows 101 internal ringing / 0612345678 Vries over
		first 101`,
	"closed cards come back": `
		ring a 0612345678
		ring b 101
		close 1
		close 1
		shows nothing
		show 2
		show 1
		shows 0612345678 Vries ringing / 101 internal ringing
		end a
		end b
		shows 0612345678 Vries reported strip / 101 internal reported
		wait 61s
		shows nothing`,
	"what has ended gives way to the call that begins": `
		ring a 0612345678
		answer a
		end a
		shows 0612345678 Vries over
		ring b 0687654321
		first 0687654321
		shows 0612345678 Vries over strip / 0687654321 Jansen ringing
		unfold 1
		shows 0612345678 Vries over / 0687654321 Jansen ringing
		first 0687654321
		end b missed
		first 0612345678
		ring c 101
		shows 0612345678 Vries over strip / 101 internal ringing`,
	"the hotkey means who rings, then who talks": `
		ring a 0612345678
		answer a
		ring b 0687654321
		ring c 101
		first 101
		end c missed
		first 0687654321
		close 2
		first 0612345678
		close 1
		first 0687654321
		end b missed
		first 0612345678
		end a
		first nobody`,
	"a page is nobody who lives": `
		ring a 0612345678
		answer a
		end a
		ring u@url 0687654321
		first 0687654321
		shows 0612345678 Vries over / 0687654321 offered ringing
		answer a
		ring b 101
		first 101`,
	"more calls than cards": `
		ring a 101
		ring b 102
		ring c 103
		ring d 0612345678
		ring e 0687654321
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 0612345678 Vries ringing line / 0687654321 Jansen ringing line
		answer e
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 0612345678 Vries ringing line / 0687654321 Jansen answered
		unfold 4
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 0612345678 Vries ringing / 0687654321 Jansen answered
		end a missed
		end b missed
		shows 103 internal ringing / 0612345678 Vries ringing / 0687654321 Jansen answered`,
	"answered when the pointer has just left": `
		ring a 101
		ring b 102
		ring c 103
		ring d 104
		ring e 105
		hover 1
		leave 1
		answer e
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 104 internal ringing line / 105 internal answered line
		wait 900ms
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 104 internal ringing line / 105 internal answered line
		wait 200ms
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 104 internal ringing line / 105 internal answered`,
	"a click brings a line up at once": `
		ring a 101
		ring b 102
		ring c 103
		ring d 104
		hover 4
		unfold 4
		shows 101 internal ringing / 102 internal ringing / 103 internal ringing / 104 internal ringing`,
	"what has ended is a line before what rings is": `
		ring a 0612345678
		answer a
		end a
		unfold 1
		ring b 101
		ring c 102
		ring d 103
		shows 0612345678 Vries over line / 101 internal ringing / 102 internal ringing / 103 internal ringing`,
	"the last call is on another line by now": `
		ring a 101
		ring b 0612345678
		end b
		caller a 0612345678
		show-last
		shows 0612345678 Vries ringing x2`,
	"asked for while its caller is on another call": `
		ring a 101
		hover 1
		ring b 0612345678
		end b missed
		ring c 0687654321
		caller c 0612345678
		show 2
		leave 1
		wait 1001ms
		shows 101 internal ringing / 0612345678 Vries ringing x2`,
	"chosen earlier": `
		ring a 0201234567
		open 1 2
		opened Zwart
		remembered Zwart
		shows 0201234567 Aalst+Bakker+Zwart ringing opened=Zwart
		end a
		history Zwart ended opened
		ring b 0201234567
		shows 0201234567 Zwart+Aalst+Bakker ringing x2 earlier
		not-this 1 0
		shows 0201234567 Aalst+Bakker ringing x2 not-this undo
		remembered -`,
	"chosen earlier, and the hub has it no more": `
		chosen +31201234567 Gone
		ring a 0201234567
		shows 0201234567 Aalst+Bakker+Zwart ringing`,
	"one contact is no choice": `
		ring a 0612345678
		open 1 0
		opened Vries
		remembered -`,
	"a general number": `
		ring a 0881234567
		shows 0881234567 31 ringing many
		open 1 4
		opened P04
		remembered -
		chosen +31881234567 P04
		end a missed
		ring b 0881234567
		shows 0881234567 31 ringing x2 many`,
	"not this one, the only one": `
		ring a 0612345678 name=J.deVries
		history Vries live
		not-this 1 0
		shows 0612345678 nobody ringing not-this undo
		history - live
		caller a 101
		caller a 0612345678 name=J.deVries
		shows 0612345678 nobody ringing not-this
		answer a
		end a
		history - ended
		show-last
		shows 0612345678 nobody over not-this`,
	"not this one, and taken back": `
		ring a 0201234567
		open 1 2
		opened Zwart
		not-this 1 2
		remembered -
		history - live
		undo 1
		shows 0201234567 Zwart+Aalst+Bakker ringing earlier opened=Zwart
		remembered Zwart
		history Zwart live opened
		not-this 1 1
		wait 9s
		shows 0201234567 Zwart+Bakker ringing earlier opened=Zwart not-this undo
		wait 1s
		shows 0201234567 Zwart+Bakker ringing earlier opened=Zwart not-this
		undo 1
		shows 0201234567 Zwart+Bakker ringing earlier opened=Zwart not-this`,
	"not this one, taken back after hanging up": `
		ring a 0612345678 name=J.deVries
		not-this 1 0
		end a missed
		shows 0612345678 nobody reported not-this undo
		history - missed
		undo 1
		shows nothing
		history Vries missed`,
	"not this one, of two": `
		ring a 0203333333
		open 1 1
		opened Twee
		not-this 1 0
		shows 0203333333 Twee ringing opened=Twee not-this undo
		history Twee live opened
		ring b 102
		end a
		end b
		ring c 0203333333
		shows 0203333333 Twee+Een ringing x2 earlier
		not-this 1 0
		shows 0203333333 Een ringing x2 not-this undo
		history - live`,
	"not this one, and the next call": `
		ring a 0612345678
		not-this 1 0
		end a
		ring b 0612345678
		shows 0612345678 Vries ringing x2`,
	"opens when answered": `
		auto-open
		ring a 0612345678
		opened nothing
		answer a
		opened Vries
		shows 0612345678 Vries answered opened=Vries
		remembered -`,
	"what was opened while it rang does not open again when answered": `
		auto-open
		ring a 0612345678
		open 1 0
		opened Vries
		answer a
		opened nothing`,
	"the queue is reported with the answer": `
		ring a 0612345678
		answer a queue=Schade
		shows 0612345678 Vries answered on=Schade`,
	"opens when answered, and the hub is late": `
		auto-open
		hub holds
		ring a 0612345678
		answer a
		wait 8s
		hub goes on
		opened Vries`,
	"a launch by a paired phone does not open either": `
		auto-open
		links are paired
		ring u@url 0612345678
		answer u@url
		shows 0612345678 Vries answered
		opened nothing
		ring v@url 0687654321
		shows 0612345678 Vries answered / 0687654321 Jansen ringing`,
	"links that start nothing": `
		links are off
		ring u@url 0612345678
		shows nothing
		history nothing`,
	"a launch that the user looks up opens": `
		auto-open
		ring u@url 0612345678
		answer u@url
		look-up 1
		opened Vries`,
	"a page and the phone report the same call": `
		ring u@url 0612345678
		shows 0612345678 offered ringing
		ring a@bare 0612345678
		shows 0612345678 Vries ringing
		history Vries live
		end a@bare
		shows nothing`,
	"a page takes no card away": `
		ring a@cmd 0612345678
		wait 61s
		ring u@url 0612345678
		shows 0612345678 Vries reported strip / 0612345678 offered ringing x2`,
	"nothing of a launch is kept unless it is clicked": `
		ring u@url 101
		shows 101 internal ringing
		history nothing
		wait 12m
		ring v@url 0612345678
		wait 12m
		shows nothing
		history nothing`,
	"gone before the hub answered": `
		hub holds
		ring a 0612345678
		end a missed
		shows nothing
		history - missed
		hub goes on
		history Vries missed`,
	"a hub that is slow": `
		hub holds
		ring a 0612345678
		wait 299ms
		shows 0612345678 searching ringing
		wait 1ms
		shows 0612345678 searching ringing mentioned
		wait 2700ms
		shows 0612345678 failed=hub_slow ringing retrying
		hub goes on
		shows 0612345678 Vries ringing`,
	"only a hub that was asked is slow, even on a busy computer": `
		crowd 10
		asked 10
		hub holds
		ring a 0612345678
		wait 300ms
		asked 10
		sleep 4s
		asked 11
		shows 0612345678 searching ringing mentioned
		wait 3s
		shows 0612345678 failed=hub_slow ringing retrying`,
	"a hub that fails is asked again after one, two and then every four seconds, until the call is over": `
		hub fails connection_refused
		ring a 0612345678
		answer a
		shows 0612345678 failed=connection_refused answered retrying
		wait 999ms
		asked 1
		wait 1ms
		asked 2
		wait 1999ms
		asked 2
		wait 1ms
		asked 3
		wait 3999ms
		asked 3
		wait 1ms
		asked 4
		wait 3999ms
		asked 4
		wait 1ms
		asked 5
		end a
		wait 10s
		asked 5
		shows 0612345678 failed=connection_refused over
		hub holds
		ring b 0612345678
		answer b
		end b
		hub goes on
		wait 10s
		asked 6
		shows 0612345678 failed=connection_refused over x2`,
	"only the user has a hub asked again that an administrator must mend": `
		hub fails credentials_refused
		ring a 0612345678
		wait 1m
		shows 0612345678 failed=credentials_refused ringing
		asked 1
		hub works
		look-up 1
		shows 0612345678 Vries ringing`,
	"few launches get a card, and none a lookup by itself": `
		ring u@url 0612345678
		ring v@url 0201234567
		ring w@url 0698765432
		shows 0612345678 offered ringing
		asked 0
		history nothing
		look-up 1
		shows 0612345678 Vries ringing
		wait 16s
		ring v@url 0201234567
		wait 16s
		ring w@url 0698765432
		wait 16s
		ring x@url 0698765431
		shows 0612345678 Vries ringing / 0201234567 offered ringing / 0698765432 offered ringing`,
	"a file counts as opened once the browser has started": `
		browser fails
		ring a 0612345678
		open 1 0
		shows 0612345678 Vries ringing opened=Vries no-browser
		history Vries live
		browser works
		open 1 0
		shows 0612345678 Vries ringing opened=Vries
		history Vries live opened
		browser holds
		open 1 0
		end a missed
		shows nothing
		browser goes on
		opened Vries Vries Vries`,
	"a call is on until it is over, or its end must have been lost": `
		outgoing off
		ring in 0612345678
		close 1
		shows nothing
		on 1
		call out 0201234567
		on 2
		end in
		on 1
		end out
		on 0
		ring lost 0612345678
		close 1
		ring x@http 0698765432
		close 1
		call lost-too 0201234567
		wait 3h59m59s
		on 3
		wait 1s
		on 0
		first nobody
		answer lost 0612345678
		on 1
		shows nothing
		end lost
		history Vries ended
		end lost-too
		history - ended
		ring x@http 0698765432
		shows 0698765432 nobody ringing x2`,
	"earlier calls of a forgotten caller do not count": `
		ring a 0612345678
		end a missed
		ring b 0612345678
		shows 0612345678 Vries ringing x2
		end b missed
		forget
		ring c 0612345678
		shows 0612345678 Vries ringing`,
	"the name that came too late is not kept in memory": `
		hub holds
		ring a 0612345678
		end a missed
		hub goes on
		nobody is kept`,
}

func TestStoryTexts(t *testing.T) {
	for name, story := range storyTexts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStoryRun(t)
				for i, line := range strings.Split(strings.TrimSpace(story), "\n") {
					if err := s.tell(strings.Fields(line)); err != nil {
						t.Fatalf("line %d, %s: %v", i+1, strings.TrimSpace(line), err)
					}
					synctest.Wait()
				}
			})
		})
	}
}
