import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { describeTarget, readTarget, targetFlags } from "./TargetFlags.ts"

export const pause = Command.make(
  "pause",
  {
    ...targetFlags,
    schedules: Flag.Literals("schedules", ["late", "skip"]).pipe(
      Flag.withDescription("Ticks during the pause: the latest fires at its end, or none does"),
      Flag.withDefault("late")
    ),
    drain: switchFlag("drain", "Wait until no run executes")
  },
  Effect.fnUntraced(function* ({ schedules, drain, ...flags }) {
    const target = yield* readTarget(flags)
    const api = yield* Api
    const output = yield* Output
    const paused = yield* api.request((weft, options) => weft.pauses.create({ ...target, schedules }, options))
    if (drain) yield* awaitDrained(paused.pause_id)
    yield* output.print(paused, () => `Paused ${describeTarget(paused)}; \`weft resume\` starts its deliveries`)
  })
).pipe(
  Command.withDescription("Pause a function, a project or the environment; its deliveries are kept"),
  Command.withExamples([
    { command: "weft pause shop:main/onOrder" },
    { command: "weft pause --project shop --schedules skip" },
    { command: "weft pause --all --drain" }
  ])
)

/** Interval in which a wait reads the number of executing runs. */
const pollInterval = "1 second"

/** Waits until no run of the pause executes. Suspended durable runs do not count. */
const awaitDrained = Effect.fnUntraced(function* (id: string) {
  const api = yield* Api
  while (true) {
    const { runs } = yield* api.request((weft, options) => weft.pauses.get(id, options))
    if (runs.executing === 0) return
    yield* Effect.sleep(pollInterval)
  }
})
