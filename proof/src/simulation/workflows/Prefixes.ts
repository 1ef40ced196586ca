/** Replays each prefix of a history: its function must make the same requests and receive the same results. */
import {
  type Event,
  formatEvent,
  type HostCall,
  type Invocation,
  type StepRecord,
  utf8Encode
} from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { type FlowProbe, failedStep } from "./Flow.ts"
import { invokeFlow } from "./FlowSandbox.ts"
import type { TrackedFlow } from "./WorkflowModel.ts"

const artifact = "a prefix"

/** Returns the broken rules. */
export const replayPrefixes = async (flow: TrackedFlow, event: Event): Promise<ReadonlyArray<string>> => {
  const broken: Array<string> = []
  for (let length = 0; length <= flow.steps.length; length++) broken.push(...(await replayPrefix(flow, event, length)))
  return broken
}

const replayPrefix = async (flow: TrackedFlow, event: Event, length: number): Promise<ReadonlyArray<string>> => {
  const { run, steps, numbers } = flow
  const recorded = steps.slice(0, length)
  const requested = new Set<string>()
  const received: Array<readonly [string, unknown]> = []
  const wrong: Array<string> = []
  const checkNumber = (name: string, seq: number) => {
    if ((numbers.get(name) ?? seq) !== seq) wrong.push(`request ${name} has the number ${seq}`)
  }
  const probe: FlowProbe = {
    requested: ({ name }) => requested.add(name),
    received: ({ name }, result) => received.push([name, result]),
    body: ({ name }, attempt, key) => {
      checkNumber(name, Number(key.slice(key.lastIndexOf(":") + 1)))
      return `replayed ${attempt}`
    },
    sleep: () => new Promise(() => undefined)
  }
  const onHostCall = ({ op, payload }: HostCall) => {
    if (op === "workflow.wait") {
      const { seq, name }: { readonly seq: number; readonly name: string } = JSON.parse(payload)
      checkNumber(name, seq)
    }
    return Effect.never
  }
  const fiber = Effect.runFork(invokeFlow(toInvocation(flow, event, recorded, onHostCall), artifact, probe))
  for (let turn = 0; turn < 2 * length + 6; turn++) await new Promise((resolve) => setImmediate(resolve))
  const exit = fiber.pollUnsafe()
  await Effect.runPromise(Fiber.interrupt(fiber))
  const expected = JSON.stringify(recorded.map(({ name, ok, result }) => [name, ok ? parse(result) : failedStep]))
  const next = steps[length]
  if (JSON.stringify(received) !== expected) wrong.push(`it received ${JSON.stringify(received)}, not ${expected}`)
  if (next !== undefined && !requested.has(next.name)) wrong.push(`it does not request ${next.name}`)
  if (next !== undefined && exit !== undefined) wrong.push(`it ends with ${JSON.stringify(exit)}`)
  return wrong.map((what) => `a replay of ${length} results of ${run.run_id}: ${what}`)
}

const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

const toInvocation = (
  { run }: TrackedFlow,
  event: Event,
  recorded: ReadonlyArray<StepRecord>,
  onHostCall: Invocation["onHostCall"]
): Invocation => {
  const fact = {
    ...{ recorded: recorded.map(({ seq, kind, name }) => [seq, kind, name]), waits: [], time: run.start_time }
  }
  const { env_id, build_id, run_id } = run
  return {
    ...{ run_id, fn: run, trigger: "event", timeoutMs: 60_000, onHostCall, onLog: () => undefined },
    bundle: { env_id, build_id, artifact: Effect.succeed(utf8Encode(artifact)), renewed: Effect.never },
    svc: `{"durable":${JSON.stringify(fact)},"event":${formatEvent(event)}}`,
    replay: recorded.map(
      ({ seq, ok, ended_at, result }) => `[${seq},${ok},${ended_at}${result === null ? "" : `,${result}`}]`
    )
  }
}
