/** Pebble, the ACME test server of Let's Encrypt, on loopback with the test's DNS server. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { selfSigned } from "@weft/tooling/services"

/** Finds the program: `WEFT_TEST_PEBBLE`, or on the path. Otherwise installs Debian's package if it can. */
const findPebble = (): string => {
  const named = process.env.WEFT_TEST_PEBBLE
  if (named !== undefined) return named
  const onPath = (): string | undefined =>
    (process.env.PATH ?? "")
      .split(delimiter)
      .map((folder) => join(folder, "pebble"))
      .find(existsSync)
  const found = onPath()
  if (found !== undefined) return found
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "pebble"], { stdio: "ignore" })
  }
  const installed = onPath()
  if (installed !== undefined) return installed
  throw new Error("These tests need Pebble: apt-get install pebble, or set WEFT_TEST_PEBBLE to the program")
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

export class Pebble {
  readonly directoryUrl: string
  /** PEM of the CA of Pebble's own HTTPS certificate. */
  readonly serverCa: string
  private readonly management: string
  private readonly child: ChildProcess
  private readonly folder: string

  private constructor(port: number, managementPort: number, serverCa: string, child: ChildProcess, folder: string) {
    this.directoryUrl = `https://127.0.0.1:${port}/dir`
    this.management = `https://127.0.0.1:${managementPort}`
    this.serverCa = serverCa
    this.child = child
    this.folder = folder
  }

  /** Starts Pebble. `dns` is the address of the DNS server that it queries. */
  static async start(dns: string): Promise<Pebble> {
    const program = findPebble()
    const folder = mkdtempSync(join(tmpdir(), "weft-pebble-"))
    const { cert, key } = selfSigned()
    const [port, managementPort] = [await freePort(), await freePort()]
    writeFileSync(join(folder, "cert.pem"), cert)
    writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 })
    const pebble = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${managementPort}`,
      certificate: join(folder, "cert.pem"),
      privateKey: join(folder, "key.pem"),
      httpPort: 5002,
      tlsPort: 5001,
      ocspResponderURL: "",
      externalAccountBindingRequired: false
    }
    writeFileSync(join(folder, "config.json"), JSON.stringify({ pebble }))
    const child = spawn(program, ["-config", join(folder, "config.json"), "-dnsserver", dns], {
      stdio: "ignore",
      env: { ...process.env, PEBBLE_VA_NOSLEEP: "1" }
    })
    const started = new Pebble(port, managementPort, cert, child, folder)
    await started.ready()
    return started
  }

  /** Returns the PEM root of the certificates that it issues. It creates a new one at every start. */
  root(): Promise<string> {
    return this.get(`${this.management}/roots/0`)
  }

  /** Returns the status of a certificate. */
  async status(serial: string): Promise<string> {
    return JSON.parse(await this.get(`${this.management}/cert-status-by-serial/${serial}`)).Status
  }

  async stop(): Promise<void> {
    const exited = once(this.child, "exit")
    this.child.kill("SIGKILL")
    await exited
    rmSync(this.folder, { recursive: true })
  }

  private async ready(): Promise<void> {
    for (let round = 0; round < 200; round++) {
      if (this.child.exitCode !== null) throw new Error(`Pebble exited with code ${this.child.exitCode}`)
      const answered = await this.get(this.directoryUrl).then(
        () => true,
        () => false
      )
      if (answered) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error("Pebble did not start within 10 s")
  }

  private get(url: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { ca: this.serverCa }, (response) => {
        let text = ""
        response.on("data", (chunk) => {
          text += chunk
        })
        response.on("end", () => resolve(text))
      })
      sent.on("error", reject)
      sent.end()
    })
  }
}
