package text

// Commands of administration: provision, settings, secret, forget, register.
const (
	AdminNothing      Key = "admin.nothing"        // provision without anything to set
	AdminSetupAlone   Key = "admin.setup_alone"    // flags that do not go with a set-up file
	AdminTestNumber   Key = "admin.test_number"    // --test-number without a test
	AdminPassphrase   Key = "admin.passphrase"     // --passphrase-stdin without --import
	AdminNoTerminal   Key = "admin.no_terminal"    // for the passphrase
	AdminLinkAlone    Key = "admin.link_alone"     // flags that do not go with --softphone
	AdminNoLink       Key = "admin.no_link"        // no link of that name
	AdminGroupAlone   Key = "admin.group_alone"    // --secret-group without machine
	AdminNeedsAddress Key = "admin.needs_address"  // a secret without address or client
	AdminPolicyKeeps  Key = "admin.policy_keeps"   // keys that the policy sets
	AdminSet          Key = "admin.set"            // settings, and a secret if one was given
	AdminSetWaiting   Key = "admin.set.waiting"    // a new secret waits beside the old one
	AdminSetNoSecret  Key = "admin.set.no_secret"  // address and client have none
	AdminSetLink      Key = "admin.set.link"       // a link's secret
	AdminSetMachine   Key = "admin.set.machine"    // the computer's secret
	AdminTestGood     Key = "admin.test.good"      // nothing was to be set
	AdminIncomplete   Key = "admin.incomplete"     // a key without which there is no hub
	AdminPhrase       Key = "admin.phrase"         // stands above the passphrase
	AdminLeft         Key = "admin.left"           // settings that do not travel
	AdminNotSetupFile Key = "admin.not_setup_file" // the suffix
)
