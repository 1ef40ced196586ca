import type { Caller } from "./Caller.ts"

/** Base class of the groups of methods. */
export abstract class Endpoints {
  protected readonly caller: Caller

  constructor(caller: Caller) {
    this.caller = caller
  }
}
