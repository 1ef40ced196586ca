/** Runs the Web Platform Tests in the sandbox and in Node, and compares the number of passed tests. */
import { Effect } from "effect"
import type { Answer } from "./harness.ts"
import { runInNode } from "./InNode.ts"
import { runInSandbox } from "./InSandbox.ts"
import { Checkout, listTests, readTest, type TestFile } from "./TestFile.ts"
import { type WebArea, webAreas } from "./WebArea.ts"

/** Smallest acceptable share of Node's passed tests, in each area. */
export const shareMin = 0.97

export interface AreaResult {
  readonly name: string
  readonly passed: number
  readonly inNode: number
  /** Failed tests of files in which Node passes more, for people who close the gap. */
  readonly gaps: ReadonlyArray<string>
}

/** Selects areas by name; `web` selects all. */
const selectAreas = (checkout: string, only: string | undefined): ReadonlyArray<WebArea> => {
  const known = webAreas.filter(({ folders }) => folders.some((folder) => listTests(checkout, folder).length > 0))
  if (only === undefined) return known
  const names = only.split(",")
  return names.includes("web") ? known : known.filter(({ name }) => names.includes(name))
}

const describeGap = (file: TestFile, ours: Answer | string, theirs: Answer): ReadonlyArray<string> => {
  if (typeof ours === "string") return [`${file.name}: ${ours.replaceAll("\n", " ")}`]
  const known = new Set(theirs.failed.map(([name]) => name))
  return ours.failed
    .filter(([name]) => !known.has(name))
    .map(([name, message]) => `${file.name} › ${name}: ${message}`.replaceAll("\n", " "))
}

const passedOf = (answer: Answer | string): number => (typeof answer === "string" ? 0 : answer.passed)

/** Runs all test files of an area, one after the other. */
const runArea = Effect.fnUntraced(function* (
  checkout: Checkout,
  { name, folders }: WebArea,
  progress: (text: string) => void
) {
  const paths = folders.flatMap((folder) => listTests(checkout.folder, folder))
  const files = paths.flatMap((path) => readTest(checkout, path))
  let passed = 0
  let inNode = 0
  const gaps: Array<string> = []
  for (const file of files) {
    const [ours, theirs] = yield* Effect.all([runInSandbox(file), Effect.promise(() => runInNode(file))], {
      concurrency: 2
    })
    passed += passedOf(ours)
    inNode += passedOf(theirs)
    if (typeof theirs === "string") continue
    if (passedOf(ours) < theirs.passed) {
      progress(`${file.name}: ${passedOf(ours)} of ${theirs.passed}`)
      gaps.push(...describeGap(file, ours, theirs))
    }
  }
  progress(`${name}: ${passed} passed, ${inNode} in Node`)
  return { name, passed, inNode, gaps } satisfies AreaResult
})

/** Runs the selected areas of a checkout. `hash` is that of all files that were read. */
export const runAreas = Effect.fnUntraced(function* (
  folder: string,
  only: string | undefined,
  progress: (text: string) => void
) {
  const checkout = new Checkout(folder)
  if (!checkout.has("resources/testharness.js")) {
    return yield* Effect.die(new Error(`--wpt must name a checkout of web-platform-tests/wpt (got ${folder})`))
  }
  const results = yield* Effect.forEach(selectAreas(folder, only), (each) => runArea(checkout, each, progress))
  return { results, hash: checkout.hash }
})
