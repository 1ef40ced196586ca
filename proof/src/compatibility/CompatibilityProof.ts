/** Ordinary npm packages with a piece of real work each, and the Web Platform Tests, run as functions. */
import { sandbox } from "@weft/sandbox"
import { Effect } from "effect"
import type { Proof } from "../Proof.ts"
import { type Area, packagesOf } from "./Case.ts"
import { areas } from "./cases/all.ts"
import { install } from "./Installation.ts"
import { tryCase, type Verdict } from "./Trial.ts"
import { webAreas } from "./web/WebArea.ts"
import { type AreaResult, runAreas, shareMin } from "./web/WebProof.ts"

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

const packageRows = Effect.fnUntraced(function* (
  selected: ReadonlyArray<Area>,
  folder: string,
  progress: (text: string) => void
) {
  const rows: Array<Row> = []
  const failures: Array<string> = []
  for (const { name, cases } of selected) {
    const verdicts: ReadonlyArray<Verdict> = yield* Effect.forEach(cases, (each) =>
      Effect.tap(tryCase(folder, each), ({ failure }) =>
        Effect.sync(() => progress(failure === null ? `passed ${each.name}` : `FAILED ${each.name}: ${failure}`))
      )
    )
    const failed = verdicts.filter(({ failure }) => failure !== null)
    rows.push([
      `npm: ${name}`,
      verdicts.length - failed.length,
      verdicts.length,
      formatShare(failed.length === 0 ? 1 : 1 - failed.length / verdicts.length)
    ])
    failures.push(...failed.map((each) => `${each.name}: ${each.failure}`))
  }
  return { rows, failures }
})

type Row = readonly [area: string, passed: number, expected: number, share: string]

const formatShare = (share: number): string => share.toFixed(3)

const webRow = ({ name, passed, inNode }: AreaResult): Row => [
  `web: ${name}`,
  passed,
  inNode,
  formatShare(passed / Math.max(inNode, 1))
]

const webFailures = ({ name, passed, inNode, gaps }: AreaResult): ReadonlyArray<string> =>
  passed >= shareMin * inNode ? [] : [`web: ${name}: ${passed} of ${inNode}: ${gaps.slice(0, 20).join("; ")}`]

export const compatibilityProof: Proof = {
  title: "Compatibility",
  does: `Installs ordinary packages from npm in pinned versions. Each has a small program that does real work with it: a
request, a token, a spreadsheet. It is bundled with the code of \`weft build\` and the settings of \`weft init\`, and runs in the
sandbox. Requests reach a server of the proof. The result is compared with the expected one.

With \`--wpt FOLDER\` it also runs the Web Platform Tests of a server's areas. FOLDER is a checkout of
\`web-platform-tests/wpt\`, or the folder \`test/fixtures/wpt\` of Node's sources. The same module runs as a function in the
sandbox and in a process of Node, and the passed tests are counted in both. \`--only web\` runs nothing else.`,
  shows: `these packages run as functions without configuration, and functions pass at least ${shareMin} of the tests that
Node passes, in every area.`,
  doesNotShow: `every function of a package, packages that are not in the list, and tests that need a document or a server.`,
  list: () => [
    ...areas.flatMap(({ name, cases }) => [name, ...cases.map((each) => `  ${each.name}`)]),
    "web",
    ...webAreas.map(({ name }) => `  ${name}`)
  ],
  run: async ({ only, wpt, progress }) => {
    const selected = select(only)
    const folder =
      selected.length === 0
        ? ""
        : install([...new Set(areas.flatMap(({ cases }) => cases).flatMap(packagesOf))], progress)
    const none = { results: [], hash: null }
    const { packages, web } = await Effect.runPromise(
      Effect.gen(function* () {
        const packages = yield* packageRows(selected, folder, progress)
        const web = wpt === undefined ? none : yield* runAreas(wpt, only, progress)
        return { packages, web }
      }).pipe(Effect.provide(sandbox({ runners: 1 })))
    )
    const ran = packages.rows.reduce((sum, [, passed]) => sum + passed, 0)
    return {
      figures: [
        ["packages that ran", ran],
        ["packages that did not run", packages.failures.length],
        ["web platform tests that passed", web.results.reduce((sum, { passed }) => sum + passed, 0)],
        ["web platform tests that pass in Node", web.results.reduce((sum, { inNode }) => sum + inNode, 0)]
      ],
      failures: [...packages.failures, ...web.results.flatMap(webFailures)],
      notes:
        web.hash === null ? [] : [`SHA-256 of the Web Platform Tests that ran: ${web.hash}; Node ${process.version}`],
      table: { columns: ["area", "passed", "expected", "share"], rows: [...packages.rows, ...web.results.map(webRow)] }
    }
  }
}
