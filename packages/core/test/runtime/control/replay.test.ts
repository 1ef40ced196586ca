import { assert, it } from "@effect/vitest"
import { Events, RunControl } from "@weft/core"
import { JournalStore, JsonText, pageBytesMax, Run, RunId } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, settle, world } from "../../world.ts"

const modules = { app: { main: { seen: Object.assign(() => "seen", { meta: { event: "order" } }) } } }

it.effect("replays a run if the results of its event's runs exceed one page", () =>
  Effect.gen(function* () {
    const env = yield* deployed("app")
    yield* asHost(
      env,
      Events.use((events) => events.publish({ type: "order", data: null }))
    )
    yield* settle
    const [run = assert.fail("there is no run")] = yield* allRuns(env)
    const result = JsonText.make(`"${"x".repeat(pageBytesMax / 4)}"`)
    const large = (n: number) =>
      Run.make({ ...run, run_id: RunId.make(`00000000-0000-7000-8000-00000000000${n}`), result })
    const entries = [1, 2, 3, 4].map((n) => ({ _tag: "Ended" as const, run: large(n), logs: [] }))
    yield* JournalStore.use((journal) => journal.commit(entries, null))

    yield* TestClock.adjust("1 minute")
    const asked = asHost(
      env,
      RunControl.use((control) => control.replay(run.run_id))
    )
    const replaying = yield* Effect.forkChild(asked)
    yield* settle
    const replayed = yield* Fiber.join(replaying)
    assert.strictEqual(replayed.run?.origin_run_id, run.run_id)
  }).pipe(Effect.provide(world(modules)))
)
