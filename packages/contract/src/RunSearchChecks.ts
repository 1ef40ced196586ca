/** Checks of searches of `RunStore`: by project, function, text of errors, and age. */
import { assert } from "@effect/vitest"
import { type JournalStore, type Run, type RunStore, toJsonText } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { finish, numbers, start, variety } from "./RunSamples.ts"
import { at, ended, envId, eventId, projectId, run, runId } from "./Samples.ts"

/** Failed runs of two functions, and one that succeeded with a text like that of an error. */
const failures = Effect.gen(function* () {
  const failed = (n: number, name: string, message: string, over: Partial<Run> = {}) =>
    finish(
      ended(run(n, over), {
        status: "failed",
        result: toJsonText({ error: { name, message, stack: "at charge (main.ts:1:1)" } })
      })
    )
  const pay = { ns: "shop", var: "pay" }
  yield* failed(1, "CardDeclined", 'The bank said "no"', pay)
  yield* failed(2, "TypeError", "100% of ÄPFEL_1 are gone\nsorry", {
    ...pay,
    project_id: projectId(2),
    project_name: "b"
  })
  yield* failed(3, "Error", "carddeclined~", { ns: "shop", var: "refund" })
  yield* failed(4, "CardDeclined", "elsewhere", { ...pay, env_id: envId(2) })
  yield* finish(ended(run(5, pay), { result: toJsonText({ error: { name: "CardDeclined", message: "", stack: "" } }) }))
  yield* start(run(6, { ns: "pay", var: "shop" }))
})

export const runSearchChecks: ReadonlyArray<Check<RunStore | JournalStore>> = [
  check("filters a list by the project's id, or its name at the time of the run", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ project: projectId(1) }), [4, 5, 4, 3, 1])
    assert.deepStrictEqual(yield* numbers({ project: "old name" }), [1, 5])
    assert.deepStrictEqual(yield* numbers({ project: "project 2", only: ["project 1"] }), [0])
    assert.deepStrictEqual(yield* numbers({ project: "project 2", only: [projectId(2)] }), [2, 7, 2])
    assert.deepStrictEqual(yield* numbers({ project: projectId(1), status: "running" }), [2, 5, 1])
    assert.deepStrictEqual(yield* numbers({ project: projectId(1), type: "event" }, { limit: 1, offset: 1 }), [2, 4])
    assert.deepStrictEqual(yield* numbers({ project: projectId(2), eventId: eventId(1) }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ project: "nothing" }), [0])
  }),

  check("filters a list by function", function* () {
    yield* failures
    const pay = { ns: "shop", var: "pay" }
    assert.deepStrictEqual(yield* numbers({ fn: pay }), [3, 5, 2, 1])
    assert.deepStrictEqual(yield* numbers({ fn: pay }, { limit: 1, offset: 1 }), [3, 2])
    assert.deepStrictEqual(yield* numbers({ fn: pay, status: "failed" }), [2, 2, 1])
    assert.deepStrictEqual(yield* numbers({ fn: pay, status: "succeeded", since: at(3) }), [1, 5])
    assert.deepStrictEqual(yield* numbers({ fn: pay, project: "b" }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ fn: pay, only: [] }), [0])
    assert.deepStrictEqual(yield* numbers({ fn: { ns: "pay", var: "shop" } }), [1, 6])
    assert.deepStrictEqual(yield* numbers({ fn: { ns: "shop", var: "PAY" } }), [0])
  }),

  check("finds a text in names and messages of the errors of failed runs, and ignores ASCII case", function* () {
    yield* failures
    assert.deepStrictEqual(yield* numbers({ error: "cardDECLINED" }), [2, 3, 1])
    assert.deepStrictEqual(yield* numbers({ error: "cardDECLINED" }, { limit: 1, offset: 1 }), [2, 1])
    assert.deepStrictEqual(yield* numbers({ error: "card", fn: { ns: "shop", var: "pay" } }), [1, 1])
    assert.deepStrictEqual(yield* numbers({ error: "card", status: "succeeded" }), [0])
    assert.deepStrictEqual(yield* numbers({ error: "card", status: "failed", since: at(2) }), [1, 3])
    for (const text of ['said "NO"', "100% of", "Äpfel_1", "gone\nsorry", "d~"]) {
      assert.strictEqual((yield* numbers({ error: text }))[0], 1, text)
    }
    // Wildcards of SQL, other letters in lower case, names of fields, the stack, and texts across two fields.
    for (const text of ["1%f", "car_declined", "äpfel", "message", "name", "main.ts", 'declined","the', "errorcard"]) {
      assert.deepStrictEqual(yield* numbers({ error: text }), [0], text)
    }
  }),

  check("lists runs that are older than another one", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ before: runId(5) }), [4, 4, 3, 2, 1])
    assert.deepStrictEqual(yield* numbers({ before: runId(5) }, { limit: 2, offset: 1 }), [4, 3, 2])
    assert.deepStrictEqual(yield* numbers({ before: runId(5), type: "event" }), [2, 4, 2])
    assert.deepStrictEqual(yield* numbers({ before: runId(3), eventId: eventId(1) }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ before: runId(1) }), [0])
  })
]
