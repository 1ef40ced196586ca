/** How large packages are, as the page about them says it, and whether it still says so. */
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import type { Archive } from "./Archive.ts"
import { installationOf } from "./Installed.ts"

/** Of one package. */
export interface Size {
  readonly name: string
  readonly description: string
  readonly packedBytes: number
  readonly unpackedBytes: number
  /** With everything that it needs, on this platform. */
  readonly installedBytes: number
  /** Packages that are installed, itself included. */
  readonly packages: number
}

export const sizeOf = ({ manifest, packedBytes, unpackedBytes }: Archive, place: string): Size => {
  const { bytes, packages } = installationOf(manifest.name, place)
  const { name, description } = manifest
  return { name, description, packedBytes, unpackedBytes, installedBytes: bytes, packages }
}

/** Bytes of the whole module in a bundle, minified and compressed by gzip. */
export const bundledSizeOf = async (name: string, place: string): Promise<number> => {
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

const rowOf = ({ name, description, packedBytes, unpackedBytes, installedBytes, packages }: Size): string =>
  `| \`${name}\` | ${description} | ${kilobytes(packedBytes)} | ${kilobytes(unpackedBytes)} | ${kilobytes(installedBytes)} | ${packages} |`

export const tableOf = (sizes: ReadonlyArray<Size>, bundles: ReadonlyMap<string, number>): string =>
  [
    heading,
    ...sizes.map(rowOf),
    "",
    "| In a bundle, minified and compressed | KB |",
    "|---|--:|",
    ...[...bundles].map(([name, bytes]) => `| \`${name}\` | ${kilobytes(bytes)} |`)
  ].join("\n")

const begin = "<!-- sizes: npm run smoke -- --write -->"
const end = "<!-- end of sizes -->"

/** The page with another table between its marks. */
export const withTable = (page: string, table: string): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to === -1) throw new Error("The page has no marks for the sizes")
  return `${page.slice(0, from + begin.length)}\n${table}\n${page.slice(to)}`
}

/** Ours may differ by a twentieth; what others publish is not in our hands. */
const tolerance = 0.05
const toleranceOfOthers = 0.25

const numbersIn = (row: string): ReadonlyArray<number> =>
  row
    .split("|")
    .map((cell) => cell.trim())
    .filter((cell) => /^[\d.,]+$/.test(cell))
    .map((cell) => Number(cell.replaceAll(",", "")))

/** By package and table: each has its own number of columns. */
const rowsOf = (text: string): ReadonlyMap<string, ReadonlyArray<number>> =>
  new Map(
    [...text.matchAll(/^\| `([^`]+)` (.*)$/gm)].map(([, name = "", row = ""]) => {
      const numbers = numbersIn(row)
      return [numbers.length === 1 ? `${name} in a bundle` : name, numbers] as const
    })
  )

/** Where the page says something else than the table, beyond what is tolerated. */
export const driftOf = (page: string, table: string): ReadonlyArray<string> => {
  const [said, measured] = [rowsOf(page.slice(page.indexOf(begin), page.indexOf(end))), rowsOf(table)]
  const names = new Set([...said.keys(), ...measured.keys()])
  return [...names].flatMap((name) => {
    const [mine, theirs] = [said.get(name), measured.get(name)]
    if (mine === undefined || theirs === undefined) return [`${name}: is not in both`]
    const drifted = theirs.some((bytes, column) => {
      const allowed = column < 2 ? tolerance : toleranceOfOthers
      return Math.abs((mine[column] ?? 0) - bytes) > allowed * bytes
    })
    return drifted ? [`${name}: the page says ${mine.join(", ")}, it is ${theirs.join(", ")}`] : []
  })
}
