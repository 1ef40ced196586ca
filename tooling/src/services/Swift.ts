/**
 * Starts OpenStack Swift with its S3 API from Debian packages: one device, one replica, on the loopback interface.
 *
 * A second implementation of S3, for tests of compatibility.
 */
import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { type Daemons, daemons } from "./Daemons.ts"
import { installed } from "./Debian.ts"
import { freePort } from "./Port.ts"
import type { S3Server } from "./S3Server.ts"

const swiftPackages = ["swift-proxy", "swift-account", "swift-container", "swift-object", "memcached"]

const stores = ["account", "container", "object"] as const

/** Environment without native threads. With them, the logger sometimes fails, and a PUT returns 503 although it was stored. */
const noThreads = { EVENTLET_THREADPOOL_SIZE: "0", PYTHONWARNINGS: "ignore" }

export const swift = async (): Promise<S3Server> => {
  installed("Swift", ["swift-proxy-server", "swift-object-server", "swift-ring-builder", "memcached"], swiftPackages)
  const cluster = daemons("swift", noThreads)
  try {
    const { begin, listening, answering, dir } = cluster
    const [port, cache] = [await freePort(), await freePort()]
    const [accessKey, secretKey] = ["test:tester", randomBytes(20).toString("hex")]
    mkdirSync(join(dir, "dev", "d1"), { recursive: true })
    write(dir, "swift", section("swift-hash", { swift_hash_path_prefix: "test", swift_hash_path_suffix: "test" }))
    write(dir, "proxy-server", proxySettings(dir, port, cache, secretKey))
    // Requests for accounts return 500 without memcached.
    begin("cache", "memcached", [
      "-u",
      userInfo().username,
      "-l",
      "127.0.0.1",
      "-p",
      String(cache),
      "-U",
      "0",
      "-m",
      "32"
    ])
    const begun = stores.map(async (store) => {
      const at = await freePort()
      write(dir, `${store}-server`, storeSettings(dir, store, at))
      makeRing(cluster, store, at)
      begin(store, `swift-${store}-server`, [join(dir, `${store}-server.conf`)])
      await listening(store, at)
    })
    await Promise.all(begun)
    begin("proxy", "swift-proxy-server", [join(dir, "proxy-server.conf")])
    await answering("proxy", `http://127.0.0.1:${port}/healthcheck`)
    return { endPoint: "127.0.0.1", port, useSSL: false, accessKey, secretKey, remove: cluster.remove }
  } catch (error) {
    await cluster.remove()
    throw error
  }
}

const makeRing = ({ dir, run }: Daemons, store: (typeof stores)[number], port: number): void => {
  const builder = join(dir, `${store}.builder`)
  run("swift-ring-builder", [builder, "create", "6", "1", "1"])
  run("swift-ring-builder", [builder, "add", `r1z1-127.0.0.1:${port}/d1`, "1"])
  run("swift-ring-builder", [builder, "rebalance", "1"])
}

const shared = (dir: string, port: number): Settings => ({
  bind_ip: "127.0.0.1",
  bind_port: port,
  user: userInfo().username,
  swift_dir: dir,
  devices: join(dir, "dev"),
  mount_check: "false",
  workers: 0,
  disable_fallocate: "true",
  log_level: "WARNING",
  log_udp_host: "",
  recon_cache_path: dir
})

const storeSettings = (dir: string, store: string, port: number): string =>
  section("DEFAULT", shared(dir, port)) +
  section("pipeline:main", { pipeline: `${store}-server` }) +
  section(`app:${store}-server`, { use: `egg:swift#${store}`, container_update_timeout: 20 }) +
  section(`${store}-replicator`, {}) +
  section(`${store}-auditor`, {})

const filters: Readonly<Record<string, Settings>> = {
  catch_errors: {},
  gatekeeper: {},
  healthcheck: {},
  cache: {},
  listing_formats: {},
  bulk: {},
  s3api: { location: "us-east-1", s3_acl: "false", max_upload_part_num: 10_000, max_parts_listing: 1000 },
  tempauth: {},
  copy: {},
  slo: { max_manifest_segments: 10_000 },
  dlo: {},
  versioned_writes: {},
  symlink: {}
}

const proxySettings = (dir: string, port: number, cache: number, secretKey: string): string => {
  const user = ["test", "tester"].map((name) => Buffer.from(name).toString("base64url")).join("_")
  const own: Readonly<Record<string, Settings>> = {
    cache: { memcache_servers: `127.0.0.1:${cache}` },
    tempauth: { [`user64_${user}`]: `${secretKey} .admin` }
  }
  const names = Object.keys(filters)
  const eggs: Readonly<Record<string, string>> = { cache: "memcache" }
  return [
    section("DEFAULT", shared(dir, port)),
    section("pipeline:main", { pipeline: [...names, "proxy-server"].join(" ") }),
    section("app:proxy-server", {
      use: "egg:swift#proxy",
      account_autocreate: "true",
      allow_account_management: "true",
      node_timeout: 30,
      conn_timeout: 2
    }),
    ...names.map((name) =>
      section(`filter:${name}`, { use: `egg:swift#${eggs[name] ?? name}`, ...filters[name], ...own[name] })
    )
  ].join("")
}

type Settings = Readonly<Record<string, string | number>>

const write = (dir: string, name: string, text: string): void => writeFileSync(join(dir, `${name}.conf`), text)

const section = (name: string, settings: Settings): string =>
  `[${name}]\n${Object.entries(settings)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join("")}`
