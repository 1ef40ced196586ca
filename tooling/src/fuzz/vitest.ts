/**
 * Fuzz targets as tests: what is kept is tried again, and then some seconds' worth of new inputs, the same each time.
 *
 * The long form, `npm run proof -- fuzz`, sets `WEFT_FUZZ` to JSON text of `LongForm`: then inputs are looked for as long
 * as it says, guided by what they reach, and what came of it goes to a file.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { inspect } from "node:util"
import { assert, describe, it } from "vitest"
import { corpusOf } from "./Corpus.ts"
import { Coverage } from "./Coverage.ts"
import { fuzz, tried } from "./Fuzzer.ts"
import { type Target, textOf } from "./Target.ts"

/** What the long form says, in the environment. */
export interface LongForm {
  /** Of each target. */
  readonly minutes: number
  readonly seed: number
  readonly only: string | null
  /** Where each target writes its `Report`, as `NAME.json`. */
  readonly folder: string
}

export interface Report {
  readonly target: string
  readonly inputs: number
  readonly taken: number
  readonly kept: number
  readonly fresh: number
  readonly functions: number
  readonly characters: number
  readonly seconds: number
  readonly slowestMs: number
  readonly failures: ReadonlyArray<string>
}

const long: LongForm | null = process.env.WEFT_FUZZ === undefined ? null : JSON.parse(process.env.WEFT_FUZZ)

const seedOfTests = 20_261_122

/** `inputs` is how many new ones are tried with every change: about a second's worth. */
export const fuzzed = (target: Target, inputs: number): void => {
  describe.skipIf(long !== null && long.only !== null && long.only !== target.name)(
    `whatever is sent as ${target.name}`,
    () => {
      it("holds for what is kept", async () => {
        for (const [name, input] of corpusOf(target.name).entries) {
          await tried(target, input).catch((cause: unknown) => assert.fail(`${target.name}/${name}: ${String(cause)}`))
        }
      })
      if (long === null) {
        it(`holds for ${inputs} new inputs`, { timeout: 60_000 }, () => short(target, inputs))
      } else {
        it("holds for as long as was said", { timeout: long.minutes * 60_000 + 300_000 }, () => whole(target, long))
      }
    }
  )
}

const short = async (target: Target, inputs: number): Promise<void> => {
  const corpus = corpusOf(target.name)
  const { failures, taken } = await fuzz(target, {
    seed: seedOfTests,
    goesOn: (done) => done < inputs,
    corpus: [...corpus.entries.values()],
    coverage: null,
    onNew: () => undefined
  })
  const said = failures.map(({ what, input }) => `${what.slice(0, 500)}: ${inspect(textOf(input).slice(0, 500))}`)
  assert.deepStrictEqual(said, [])
  assert.isAbove(taken, 0, "nothing was taken")
  assert.isBelow(taken, inputs, "nothing was refused")
}

const whole = async (target: Target, { minutes, seed, folder }: LongForm): Promise<void> => {
  const corpus = corpusOf(target.name)
  const coverage = target.isGuided === false ? null : new Coverage(target.covers)
  const began = performance.now()
  try {
    const { failures, inputs, taken, fresh, slowestMs } = await fuzz(target, {
      seed,
      goesOn: () => performance.now() - began < minutes * 60_000,
      corpus: [...corpus.entries.values()],
      coverage,
      onNew: corpus.keepNew
    })
    const report: Report = {
      target: target.name,
      inputs,
      taken,
      kept: corpus.entries.size,
      fresh,
      functions: coverage?.functions ?? 0,
      characters: coverage?.characters ?? 0,
      seconds: (performance.now() - began) / 1000,
      slowestMs,
      failures: failures.map(({ input, what }) => `${corpus.keepFound(input, `${what} (seed ${seed})`)}: ${what}`)
    }
    writeFileSync(join(folder, `${target.name}.json`), JSON.stringify(report))
    assert.deepStrictEqual(report.failures, [])
  } finally {
    coverage?.close()
  }
}
