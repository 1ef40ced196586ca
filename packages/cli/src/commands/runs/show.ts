import type { RunStep, RunWait } from "@weft/client"
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { runText } from "./RunText.ts"
import { timelineLines, waitingText } from "./Timeline.ts"

export const show = Command.make(
  "show",
  { run: Argument.String("run").pipe(Argument.withDescription("The run's id")) },
  Effect.fnUntraced(function* ({ run: id }) {
    const api = yield* Api
    const output = yield* Output
    const [run, usage] = yield* api.request((weft, options) =>
      Promise.all([weft.runs.get(id, options), weft.runs.usage(id, options)])
    )
    if (run.durable !== true) return yield* output.print(run, () => runText(run, usage, output.paint))
    const steps: Array<RunStep> = []
    let waits: ReadonlyArray<RunWait> = []
    yield* api.request(async (weft, options) => {
      steps.length = 0
      for await (const page of weft.runs.steps(id, {}, options).pages()) {
        steps.push(...page.items)
        waits = page.waits
      }
    })
    const now = yield* Clock.currentTimeMillis
    const width = yield* output.columns
    yield* output.print({ run, steps, waits }, () => {
      const waiting = waitingText(run, output.paint)
      const timeline = timelineLines(run, { steps, waits }, now, width)
      return [runText(run, usage, output.paint), ...(waiting === "" ? [] : ["", waiting]), "", ...timeline].join("\n")
    })
  })
).pipe(
  Command.withDescription("Show a run, and the steps and waits of a durable one as a timeline"),
  Command.withExamples([
    {
      command: "weft runs show 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e",
      description: "With its steps, attempts and waits"
    }
  ])
)
