/** `npm run build -w examples/functions`: writes `dist/bundle.zip` and prints its hash for the upload. */
import { mkdir, writeFile } from "node:fs/promises"
import { bundle } from "./bundle.ts"

const { zip, hash } = await bundle()
const target = new URL("../dist/bundle.zip", import.meta.url)
await mkdir(new URL(".", target), { recursive: true })
await writeFile(target, zip)
console.log(`dist/bundle.zip  ${zip.length} bytes  sha256 ${hash}`)
