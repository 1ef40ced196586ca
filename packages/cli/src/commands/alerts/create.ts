import type { Alert } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { parseDuration } from "../../input/Duration.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { conditionFlags, readCondition } from "./ConditionFlags.ts"

export const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription('A name for people, such as "orders fail"')),
    fn: Argument.String("function").pipe(
      Argument.withDescription("project:ns/var, or ns/var with --project; without both, the whole environment"),
      Argument.optional
    ),
    project: Flag.String("project").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("The whole project, or the project of the function: its id or its name"),
      Flag.optional
    ),
    ...conditionFlags,
    held: Flag.String("for").pipe(
      Flag.withMetavar("time"),
      Flag.filterMap(parseDuration, (text) => `Expected: a time such as 5m, not ${text}`),
      Flag.withDescription("Fire only when the condition has been true for this time"),
      Flag.withDefault(0)
    ),
    webhook: Flag.String("webhook").pipe(
      Flag.withMetavar("url"),
      Flag.withDescription("Send a signed POST request to this URL"),
      Flag.optional
    ),
    event: switchFlag("event", "Publish svc:alert:fired and svc:alert:resolved"),
    hook: switchFlag("hook", "Call the callback of the host")
  },
  Effect.fnUntraced(function* ({ name, fn, project, held, webhook, event, hook, ...flags }) {
    const actions: Alert["actions"] = [
      ...(Option.isNone(webhook) ? [] : [{ type: "webhook" as const, url: webhook.value }]),
      ...(event ? [{ type: "event" as const }] : []),
      ...(hook ? [{ type: "hook" as const }] : [])
    ]
    if (actions.length === 0) return yield* usageError("Give an action", "--webhook, --event or --hook")
    const input = {
      ...{ name, condition: yield* readCondition(flags), for_minutes: Math.ceil(held / 60), actions },
      ...(Option.isNone(fn) ? {} : { fn: fn.value }),
      ...(Option.isNone(project) ? {} : { project: project.value })
    }
    const api = yield* Api
    const output = yield* Output
    const created = yield* api.request((weft, options) => weft.alerts.create(input, options))
    yield* output.print(created, () => {
      const secret = Option.isNone(webhook) ? "" : `; the secret of its webhook is ${created.webhook_secret}`
      return `Created the alert rule ${created.alert_id}${secret}`
    })
  })
).pipe(
  Command.withDescription("Create an alert rule"),
  Command.withExamples([
    { command: 'weft alerts create "orders fail" shop:main/onOrder --failures 10% --min-runs 20 --event' },
    { command: 'weft alerts create "slow" --project shop --latency p95:2s --for 5m --webhook https://example.com/hook' }
  ])
)
