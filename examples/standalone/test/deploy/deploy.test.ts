/** The settings and programs that the files of `deploy` name. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { readSettings } from "../../src/Settings.ts"
import { readCompose, readDeployFile, readKubernetes } from "./Files.ts"

/** Time in seconds after which an exit of a draining node may be forced. */
const drainSeconds = 40

const masterKey = Buffer.alloc(32, 1).toString("base64")
const token = "0123456789abcdef0123456789abcdef"

/** Variables of the image. */
const ofImage = (): Record<string, string> =>
  Object.fromEntries(
    [...readDeployFile("Dockerfile").matchAll(/^ENV (.+)$/gm)].flatMap(([, line = ""]) =>
      line.split(" ").map((pair) => pair.split("=") as [string, string])
    )
  )

const { node } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")).devDependencies
const { start } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")).scripts

describe("the image", () => {
  it("has the Node of the project, and its flags", () => {
    const text = readDeployFile("Dockerfile")
    expect(text).toContain(`ARG NODE=${node}\n`)
    const command: ReadonlyArray<string> = JSON.parse(/^CMD (.+)$/m.exec(text)?.[1] ?? "[]")
    expect(command.join(" ").replace("server/main.mjs", "")).toBe(/node --disable.*? (?=examples)/.exec(start)?.[0])
  })

  it("has settings that the server accepts", () => {
    expect(readSettings(ofImage())).toMatchObject({ host: "0.0.0.0", port: 8787, dataDir: "/data" })
  })
})

describe("compose.yaml", () => {
  const { environment, stop_grace_period } = readCompose().services.weft

  it("has settings that the server accepts, and asks for each secret", () => {
    const secrets: Record<string, string> = {
      WEFT_MASTER_KEY: masterKey,
      WEFT_ADMIN_TOKEN: token,
      POSTGRES_PASSWORD: "p"
    }
    const asked = new Set<string>()
    const filled = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_, variable: string, kind: string, text: string) => {
        if (kind === "-") return text
        asked.add(variable)
        return secrets[variable] ?? ""
      })
    ])
    expect(readSettings({ ...ofImage(), ...Object.fromEntries(filled) })).toMatchObject({
      database: { kind: "postgres" },
      storage: { kind: "file", dir: "/data/blobs" }
    })
    expect([...asked].sort()).toEqual(Object.keys(secrets).sort())
  })

  it("waits until the server has drained", () => {
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThanOrEqual(drainSeconds)
  })
})

describe("kubernetes.yaml", () => {
  const { variables, pod, container } = readKubernetes()

  it("has settings that the server accepts, with those of the secret that its head creates", () => {
    const names = [...readDeployFile("kubernetes.yaml").matchAll(/--from-literal=(WEFT_\w+)=/g)].map(([, name]) => name)
    const secret = {
      WEFT_DATABASE_URL: "postgres://u:p@db:5432/weft?sslmode=verify-full",
      WEFT_STORAGE_URL: "s3://access:secret@s3/bucket?tls=true&region=eu-central-1",
      WEFT_MASTER_KEY: masterKey,
      WEFT_ADMIN_TOKEN: token,
      WEFT_API_KEY: `svc_01890000-0000-7000-8000-000000000001_${token}`
    }
    expect(names).toEqual(Object.keys(secret))
    expect(readSettings({ ...ofImage(), ...variables, ...secret })).toMatchObject({
      database: { kind: "postgres" },
      pubSub: { kind: "postgres" },
      storage: { kind: "s3" }
    })
  })

  it("probes the port on which the server listens", () => {
    expect(container.ports[0].containerPort).toBe(Number(variables.WEFT_PORT))
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(httpGet.port).toBe(container.ports[0].name)
    }
  })

  it("waits until the server has lingered and drained", () => {
    const lingerSeconds = Number(variables.WEFT_LINGER_MS) / 1000
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(lingerSeconds + drainSeconds)
  })
})

describe("weft.service", () => {
  const text = readDeployFile("weft.service")

  it("has settings that the server accepts, and the flags of Node", () => {
    const variables = Object.fromEntries(
      [...text.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])
    )
    expect(readSettings(variables)).toMatchObject({ dataDir: "/var/lib/weft" })
    const flags = /env (node .*? )\/opt/.exec(text)?.[1]
    expect(flags).toBe(/node --disable.*? (?=examples)/.exec(start)?.[0])
  })

  it("waits until the server has drained", () => {
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(drainSeconds)
  })
})
