/** Bundles sources in the same way as authors. */
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { strToU8, zipSync } from "fflate"

/** The module as text; `contents` is a module that may import from this folder. */
export const bundleOf = async (contents: string, minify = false): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["weft-source"],
    target: "es2024",
    minify
  })
  const [output] = outputFiles
  if (output === undefined) throw new Error("esbuild produced no output")
  return output.text
}

/** Returns a build to upload. */
export const zipOf = (code: string, files: Readonly<Record<string, string>> = {}) => {
  const assets = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))
  const zip = zipSync({ ...assets, "index.js": strToU8(code) })
  return { zip, hash: createHash("sha256").update(zip).digest("hex") }
}
