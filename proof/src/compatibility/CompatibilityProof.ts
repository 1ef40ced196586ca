/** Ordinary npm packages, each with a piece of real work, bundled and run as functions. */
import { sandbox } from "@weft/sandbox"
import { Effect } from "effect"
import type { Proof } from "../Proof.ts"
import { type Area, packagesOf } from "./Case.ts"
import { areas } from "./cases/all.ts"
import { install } from "./Installation.ts"
import { tryCase, type Verdict } from "./Trial.ts"

/** Returns the areas with the selected cases: all, those of an area, or single ones by name. */
const select = (only: string | undefined): ReadonlyArray<Area> => {
  if (only === undefined) return areas
  const names = only.split(",")
  return areas
    .map(({ name, cases }) => ({
      name,
      cases: names.includes(name) ? cases : cases.filter((each) => names.includes(each.name))
    }))
    .filter(({ cases }) => cases.length > 0)
}

export const compatibilityProof: Proof = {
  title: "npm packages",
  does: `Installs ordinary packages from npm in pinned versions. Each has a small program that does real work with it: a
request, a token, a spreadsheet. It is bundled with the code of \`weft build\` and the settings of \`weft init\`, and runs in the
sandbox. Requests reach a server of the proof. The result is compared with the expected one.`,
  shows: `these packages run as functions without configuration.`,
  doesNotShow: `every function of a package, and packages that are not in the list.`,
  list: () => areas.flatMap(({ name, cases }) => [name, ...cases.map((each) => `  ${each.name}`)]),
  run: async ({ only, progress }) => {
    const selected = select(only)
    const all = areas.flatMap(({ cases }) => cases)
    const folder = install([...new Set(all.flatMap(packagesOf))], progress)
    const verdicts = new Map<string, ReadonlyArray<Verdict>>()
    await Effect.runPromise(
      Effect.gen(function* () {
        for (const { name, cases } of selected) {
          verdicts.set(
            name,
            yield* Effect.forEach(cases, (each) =>
              Effect.tap(tryCase(folder, each), ({ failure }) =>
                Effect.sync(() =>
                  progress(failure === null ? `passed ${each.name}` : `FAILED ${each.name}: ${failure}`)
                )
              )
            )
          )
        }
      }).pipe(Effect.provide(sandbox({ runners: 1 })))
    )
    const rows = [...verdicts].map(([area, results]) => {
      const failed = results.filter(({ failure }) => failure !== null)
      return [area, results.length - failed.length, failed.length] as const
    })
    const results = [...verdicts.values()].flat()
    return {
      figures: [
        ["packages that ran", results.filter(({ failure }) => failure === null).length],
        ["packages that did not run", results.filter(({ failure }) => failure !== null).length]
      ],
      failures: results.flatMap(({ name, failure }) => (failure === null ? [] : [`${name}: ${failure}`])),
      notes: [],
      table: { columns: ["area", "ran", "did not run"], rows }
    }
  }
}
