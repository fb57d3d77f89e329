package broadworks

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"testing/iotest"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/linktest"
)

// event1 returns an event of the user, as sent.
func event1(kind, said string) string {
	return simulate.BroadWorksEvent("e1", "s1", me, kind, 7, said)
}

// hostile returns documents that no BroadWorks sends: a table, and mutations of real ones.
func hostile(n int) []string {
	wrap := func(said string) string { return event1("CallReceivedEvent", said) }
	long := strings.Repeat("9", 50_000)
	out := []string{
		"", "<", "<>", "</>", "<a", "<a/>", "<?xml", "<?xml?>", "<?xml version=\"1.1\"?><a/>", "<?xml version=\"1.0\" encoding=\"x-nobody\"?><a/>", "{}", "[]", "null", "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>",
		"<Channel/>", "<Channel><channelId>other</channelId></Channel>", "<ChannelHeartBeat/>", "<ChannelHeartbeat></ChannelHeartbeat>", "<Subscription/>", "<Event/>", "<xsi:Event/>", "<Event><eventData/></Event>",
		"<Event><eventData><call/></eventData></Event>", "<Event><eventData><call><callId/></call></eventData></Event>", "<Event><targetId>" + me + "</targetId><eventData><call><callId>x<b/></callId></call></eventData></Event>",
		wrap(""), wrap("<call></call>"), wrap("<calls/>"), wrap("<calls><call/></calls>"), wrap("<call><callId>" + long + "</callId></call>"),
		wrap(simulate.BroadWorksCall("a", long, long, long, "<address>"+long+"</address>", "")), wrap(simulate.BroadWorksCall("b", "", "", "", "", "")),
		wrap(simulate.BroadWorksCall("c", "1", "Terminator", "Alerting", "<name>\u202eevil</name><address countryCode=\""+long+"\">tel:%zz%00;;=</address>", "")),
		wrap(simulate.BroadWorksCall("d", "1", "Terminator", "Alerting", "<address>sip:@;</address>", "<redirections>"+strings.Repeat("<redirection/>", 2000)+"</redirections>")),
		wrap(simulate.BroadWorksCall("e", "1", "Terminator", "Alerting", customer, "<redirections><redirection/></redirections><redirect/>")),
		event1("SubscriptionTerminatedEvent", ""), simulate.BroadWorksEnd("another", "DuplicateChannelSet"), event1(long, ""), event1("", ""),
		strings.Repeat("<a>", 20_000), strings.Repeat("<a b='c'/>", 2000), "\x00\x01\x02", "\xff\xfe", "<a>\xff</a>", "<a>&#0;</a>", "<a>&x;</a>",
		simulate.BroadWorksEvent(long, "s1", me, "HookStatusEvent", -1, ""), strings.Replace(event1("HookStatusEvent", ""), ">7<", ">9223372036854775807<", 1), strings.Replace(event1("HookStatusEvent", ""), ">7<", ">x<", 1),
	}
	seeds := []string{event1("CallReceivedEvent", half1("Alerting")), event1("CallAnsweredEvent", half1("Active")), event1("CallReleasedEvent", half1("Released"))}
	for _, m := range linktest.Mutate(nil, n-len(out), seeds...) {
		out = append(out, strings.ReplaceAll(m, `{"[,<`, "<![CDATA["))
	}
	return out
}

// FuzzDocuments: whatever arrives on a channel is split and read to the end, calls
// are reported in a usable form, and a valid event that follows is not lost.
func FuzzDocuments(f *testing.F) {
	const longest = 8 << 10 // longer ones are slow, and are in hostile
	good := xml.Header + event1("CallReceivedEvent", half1("Alerting"))
	for _, s := range hostile(100) {
		if len(s) <= longest {
			f.Add([]byte(s))
		}
	}
	f.Add([]byte(good + good))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > longest {
			return
		}
		in := bufio.NewScanner(iotest.OneByteReader(bytes.NewReader(append(b, good+xml.Header+"<ChannelHeartBeat/>"...))))
		in.Buffer(nil, 256<<10)
		in.Split(documents)
		found, last := false, ""
		for in.Scan() {
			last = in.Text()
			found = found || strings.HasSuffix(last, good)
			all, _, err := Read(in.Bytes())
			if err != nil && all != nil {
				t.Fatal("an error and calls")
			}
			for _, e := range all {
				if e.ID == "" || e.State > call.Ended || e.State != call.Ended && e.Reason != call.ReasonUnknown {
					t.Fatalf("%+v", e)
				}
			}
		}
		if in.Err() != nil || !found || !strings.HasSuffix(last, "<ChannelHeartBeat/>") {
			t.Fatalf("%v, found %v after %q, at last %q", in.Err(), found, b, last)
		}
	})
}
