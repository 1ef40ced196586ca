/**
 * An npm registry that serves unpublished packages from archives. It redirects requests for all other packages to the
 * registry that npm is configured to use.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { basename } from "node:path"
import type { Archive } from "../packing/Archive.ts"

export interface Registry {
  readonly url: string
  readonly close: () => Promise<void>
}

export const openRegistry = async (archives: ReadonlyArray<Archive>): Promise<Registry> => {
  const upstream = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8", cwd: tmpdir() }).trim()
  const byName = new Map(archives.map((archive) => [archive.manifest.name, archive]))
  const byFile = new Map(archives.map(({ file }) => [basename(file), file]))
  let url = ""
  const server = createServer(({ url: path = "/" }, response) => {
    const name = decodeURIComponent(path.slice(1))
    const archive = byName.get(name)
    const file = byFile.get(basename(path))
    if (archive !== undefined) answer(response, "application/json", JSON.stringify(packument(archive, url)))
    else if (path.startsWith("/-/archives/") && file !== undefined) {
      answer(response, "application/octet-stream", readFileSync(file))
    } else response.writeHead(307, { location: new URL(path, upstream).href }).end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("The registry does not listen on a TCP port")
  url = `http://127.0.0.1:${address.port}`
  return {
    url,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

const answer = (response: ServerResponse, type: string, body: string | Uint8Array): void =>
  void response.writeHead(200, { "content-type": type, connection: "close" }).end(body)

const packument = ({ manifest, file }: Archive, url: string) => {
  const integrity = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`
  const dist = { tarball: `${url}/-/archives/${basename(file)}`, integrity }
  return {
    name: manifest.name,
    "dist-tags": { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } }
  }
}
