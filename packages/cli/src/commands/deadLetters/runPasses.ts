/** Repeats a request over dead letters until none is left: each response has the cursor of the next request. */
import { Effect } from "effect"
import type { Failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"

interface Skipped {
  readonly reason: string
  readonly count: number
}

export interface PassResult {
  readonly matched?: number
  readonly skipped: ReadonlyArray<Skipped>
  readonly next: string | null
}

export interface Passes {
  /** Letters that the requests changed; in a dry run, those that they would change. */
  readonly count: number
  readonly skipped: ReadonlyArray<Skipped>
}

/** Sends requests, each with the cursor of the former response. `countOf` returns the number of letters of a response. */
export const runPasses = Effect.fnUntraced(function* <A extends PassResult>(
  send: (cursor: { readonly cursor?: string }) => Effect.Effect<A, Failure>,
  countOf: (result: A) => number
): Effect.fn.Return<Passes, Failure, Output> {
  const output = yield* Output
  const skipped = new Map<string, number>()
  let count = 0
  let next: string | null = null
  do {
    const result: A = yield* send(next === null ? {} : { cursor: next })
    count += result.matched ?? countOf(result)
    for (const each of result.skipped) skipped.set(each.reason, (skipped.get(each.reason) ?? 0) + each.count)
    next = result.next
    if (next !== null) yield* output.status(formatLetters(count))
  } while (next !== null)
  return { count, skipped: [...skipped].map(([reason, n]) => ({ reason, count: n })) }
})

export const formatLetters = (n: number): string => `${n} dead ${n === 1 ? "letter" : "letters"}`

/** Prints the letters that stay as they are, by reason. */
export const noteSkipped = Effect.fnUntraced(function* ({ skipped }: Passes) {
  const output = yield* Output
  for (const { reason, count } of skipped) yield* output.note(`Skipped ${formatLetters(count)}: ${reason}`)
})
