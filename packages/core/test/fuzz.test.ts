/** Fuzz tests of the parsers for untrusted input. */
import { fuzzed } from "@weft/tooling/fuzz"
import { positions, tokens } from "./fuzz/Credentials.ts"
import { metadata } from "./fuzz/Metadata.ts"
import { permissions } from "./fuzz/Permissions.ts"
import { crons, schedules } from "./fuzz/Schedules.ts"
import { webhookRequests } from "./fuzz/WebhookRequests.ts"

fuzzed(permissions, 1000)
fuzzed(crons, 500)
fuzzed(schedules, 1500)
fuzzed(tokens, 1500)
fuzzed(positions, 3000)
fuzzed(webhookRequests, 1000)
fuzzed(metadata, 500)
