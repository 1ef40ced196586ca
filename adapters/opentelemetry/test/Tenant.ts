/** An in-memory instance with one environment and trusted functions. */
import { createHash } from "node:crypto"
import { type StartOptions, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores, type TrustedFunction, trustedSandbox, trustedZip } from "@weft/core/testing"
import { Redacted } from "effect"

export interface Tenant {
  readonly weft: WeftInstance
  readonly env: WeftEnv
}

export const startTenant = async (
  main: Readonly<Record<string, TrustedFunction>>,
  options: Partial<StartOptions>
): Promise<Tenant> => {
  const weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox({ shop: { main } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    ...options
  })
  const org = await weft.orgs.create({ slug: "acme" })
  const { env_id } = await weft.envs.create(org.slug, { name: "prod" })
  const env = weft.env(env_id)
  await env.projects.create({ name: "shop" })
  const zip = trustedZip("shop")
  const { build } = await env.builds.upload("shop", { zip, hash: createHash("sha256").update(zip).digest("hex") })
  await env.builds.deploy("shop", build.build_id)
  return { weft, env }
}

export const eventually = async (condition: () => boolean): Promise<void> => {
  for (const end = Date.now() + 10_000; !condition(); ) {
    if (Date.now() > end) throw new Error("The condition was not met within 10 s")
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
