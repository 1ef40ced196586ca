/**
 * Fuzz targets as tests: runs the corpus, then new inputs for about a second, which are the same in every run.
 *
 * The long form, `npm run proof -- fuzz`, sets `WEFT_FUZZ` to a `LongForm` as JSON. The fuzzer then runs for that time,
 * guided by coverage, and writes a report to a file.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { inspect } from "node:util"
import { assert, describe, it } from "vitest"
import { openCorpus } from "./Corpus.ts"
import { Coverage } from "./Coverage.ts"
import { fuzz, tried } from "./Fuzzer.ts"
import { type Target, textOf } from "./Target.ts"

/** Options of the long form, from the environment. */
export interface LongForm {
  /** Duration per target. */
  readonly minutes: number
  readonly seed: number
  readonly only: string | null
  /** Folder to which each target writes its `Report`, as `NAME.json`. */
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

/** Registers the tests of a target. `inputs` is the number of new inputs of the short form: about a second of them. */
export const fuzzed = (target: Target, inputs: number): void => {
  describe.skipIf(long !== null && long.only !== null && long.only !== target.name)(`The target ${target.name}`, () => {
    it("handles every input of its corpus", async () => {
      for (const [name, input] of openCorpus(target.name).entries) {
        await tried(target, input).catch((cause: unknown) => assert.fail(`${target.name}/${name}: ${String(cause)}`))
      }
    })
    if (long === null) {
      it(`handles ${inputs} new inputs`, { timeout: 60_000 }, () => short(target, inputs))
    } else {
      it("handles new inputs for the duration of the long form", { timeout: long.minutes * 60_000 + 300_000 }, () =>
        whole(target, long)
      )
    }
  })
}

const short = async (target: Target, inputs: number): Promise<void> => {
  const corpus = openCorpus(target.name)
  const { failures, taken } = await fuzz(target, {
    seed: seedOfTests,
    shouldContinue: (done) => done < inputs,
    corpus: [...corpus.entries.values()],
    coverage: null,
    onNew: () => undefined
  })
  const said = failures.map(({ what, input }) => `${what.slice(0, 500)}: ${inspect(textOf(input).slice(0, 500))}`)
  assert.deepStrictEqual(said, [])
  assert.isAbove(taken, 0, "the target accepted no input")
  assert.isBelow(taken, inputs, "the target rejected no input")
}

const whole = async (target: Target, { minutes, seed, folder }: LongForm): Promise<void> => {
  const corpus = openCorpus(target.name)
  const coverage = target.isGuided === false ? null : new Coverage(target.covers)
  const began = performance.now()
  try {
    const { failures, inputs, taken, fresh, slowestMs } = await fuzz(target, {
      seed,
      shouldContinue: () => performance.now() - began < minutes * 60_000,
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
