/** Declares the global `svc` for functions that receive only their arguments. Types only: `import "@weft/sdk/globals"`. */
import type { GlobalSvc } from "./Svc.ts"

declare global {
  const svc: GlobalSvc
}
