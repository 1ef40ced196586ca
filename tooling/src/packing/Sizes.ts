/** Measures the sizes of packages and compares them with `docs/packages.md`. */
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import type { Archive } from "./Archive.ts"
import { measureInstallation } from "./Installed.ts"

/** Sizes of one package. */
export interface Size {
  readonly name: string
  readonly description: string
  readonly packedBytes: number
  readonly unpackedBytes: number
  /** Size with all dependencies, on this platform. */
  readonly installedBytes: number
  /** Number of installed packages, including this one. */
  readonly packages: number
}

export const measureSize = ({ manifest, packedBytes, unpackedBytes }: Archive, place: string): Size => {
  const { bytes, packages } = measureInstallation(manifest.name, place)
  const { name, description } = manifest
  return { name, description, packedBytes, unpackedBytes, installedBytes: bytes, packages }
}

/** Returns the bytes of a bundle of the whole module, minified and compressed with gzip. */
export const measureBundle = async (name: string, place: string): Promise<number> => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from "${name}"`, resolveDir: place },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false
  })
  return gzipSync(outputFiles[0]?.contents ?? "").length
}

const kilobytes = (bytes: number): string => (bytes / 1000).toLocaleString("en", { maximumSignificantDigits: 3 })

const heading = `| Package | | packed KB | unpacked KB | installed KB | packages |
|---|---|--:|--:|--:|--:|`

const renderRow = ({ name, description, packedBytes, unpackedBytes, installedBytes, packages }: Size): string =>
  `| \`${name}\` | ${description} | ${kilobytes(packedBytes)} | ${kilobytes(unpackedBytes)} | ${kilobytes(installedBytes)} | ${packages} |`

export const renderTable = (sizes: ReadonlyArray<Size>, bundles: ReadonlyMap<string, number>): string =>
  [
    heading,
    ...sizes.map(renderRow),
    "",
    "| In a bundle, minified and compressed | KB |",
    "|---|--:|",
    ...[...bundles].map(([name, bytes]) => `| \`${name}\` | ${kilobytes(bytes)} |`)
  ].join("\n")

const begin = "<!-- sizes: npm run smoke -- --write -->"
const end = "<!-- end of sizes -->"

/** Replaces the table between the markers of the page. */
export const withTable = (page: string, table: string): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to === -1) throw new Error(`The page needs the markers "${begin}" and "${end}"`)
  return `${page.slice(0, from + begin.length)}\n${table}\n${page.slice(to)}`
}

/** Tolerated relative differences: for our own archives, and for installations with packages of others. */
const tolerance = 0.05
const toleranceOfOthers = 0.25

const numbersIn = (row: string): ReadonlyArray<number> =>
  row
    .split("|")
    .map((cell) => cell.trim())
    .filter((cell) => /^[\d.,]+$/.test(cell))
    .map((cell) => Number(cell.replaceAll(",", "")))

/** Parses the rows of both tables, by package. A row with one number belongs to the table of bundles. */
const parseRows = (text: string): ReadonlyMap<string, ReadonlyArray<number>> =>
  new Map(
    [...text.matchAll(/^\| `([^`]+)` (.*)$/gm)].map(([, name = "", row = ""]) => {
      const numbers = numbersIn(row)
      return [numbers.length === 1 ? `${name} in a bundle` : name, numbers] as const
    })
  )

/** Returns the rows of the page that differ from the table by more than the tolerance. */
export const findDrift = (page: string, table: string): ReadonlyArray<string> => {
  const [written, measured] = [parseRows(page.slice(page.indexOf(begin), page.indexOf(end))), parseRows(table)]
  const names = new Set([...written.keys(), ...measured.keys()])
  return [...names].flatMap((name) => {
    const [mine, theirs] = [written.get(name), measured.get(name)]
    if (mine === undefined || theirs === undefined) return [`${name}: is missing on the page or in the measured table`]
    const drifted = theirs.some((bytes, column) => {
      const allowed = column < 2 ? tolerance : toleranceOfOthers
      return Math.abs((mine[column] ?? 0) - bytes) > allowed * bytes
    })
    return drifted ? [`${name}: the page has ${mine.join(", ")}, measured ${theirs.join(", ")}`] : []
  })
}
