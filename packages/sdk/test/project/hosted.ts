/** A project that calls its host. */
import "../../src/globals.ts"

declare module "../../src/Host.ts" {
  interface HostFunctions {
    "shop.find"(input: { id: string }): { id: string; at: string } | null
    "shop.find.first"(): string
    "shop.note"(input: { id: string }): void
    "shop.refuse"(): never
  }
}

export const hosted = async () => {
  const outcomes: Record<string, unknown> = {}
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    found: () => svc.host.shop.find({ id: "1" }),
    none: () => svc.host.shop.find({ id: "2" }),
    first: () => svc.host.shop.find.first(),
    nothing: async () => [typeof (await svc.host.shop.note({ id: "1" }))],
    all: () => Promise.all([{ id: "1" }, { id: "2" }].map(svc.host.shop.find)),
    refused: () => svc.host.shop.refuse(),
    absent: () => Reflect.apply(Reflect.get(svc.host.shop, "absent"), undefined, [])
  }
  for (const [step, attempt] of Object.entries(steps)) {
    outcomes[step] = await attempt().catch((error: unknown) => (error instanceof Error ? error.name : typeof error))
  }
  return [outcomes, JSON.stringify(svc.host), typeof (await svc.host.shop), svc.host instanceof Function]
}
