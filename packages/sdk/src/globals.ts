/** Declares the global `svc` of functions that get just their arguments. Types only: `import "@weft/sdk/globals"`. */
import type { GlobalSvc } from "./Svc.ts"

declare global {
  const svc: GlobalSvc
}
