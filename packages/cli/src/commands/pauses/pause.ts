import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { describeTarget, readTarget, targetFlags } from "./TargetFlags.ts"

export const pause = Command.make(
  "pause",
  {
    ...targetFlags,
    schedules: Flag.Literals("schedules", ["late", "skip"]).pipe(
      Flag.withDescription("Ticks during the pause: the latest fires at its end, or none does"),
      Flag.withDefault("late")
    )
  },
  Effect.fnUntraced(function* ({ schedules, ...flags }) {
    const target = yield* readTarget(flags)
    const api = yield* Api
    const output = yield* Output
    const paused = yield* api.request((weft, options) => weft.pauses.create({ ...target, schedules }, options))
    yield* output.print(paused, () => `Paused ${describeTarget(paused)}; \`weft resume\` starts its deliveries`)
  })
).pipe(
  Command.withDescription("Pause a function, a project or the environment; its deliveries are kept"),
  Command.withExamples([
    { command: "weft pause shop:main/onOrder" },
    { command: "weft pause --project shop --schedules skip" },
    { command: "weft pause --all" }
  ])
)
