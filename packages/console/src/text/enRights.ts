/** English texts about the rights of credentials. */
export const enRights = {
  rights: {
    title: "Effective rights",
    credential: "Of",
    own: "The API key of this sign-in",
    apiKey: "API key",
    serviceKey: "Service key",
    session: "Session",
    show: "Rights",
    none: "This credential may not read its sessions.",
    ownHint: "As of the sign-in. Other credentials of this API key never have more rights.",
    derivedHint:
      "The rights that its own permissions and those of its API key both grant. The server checks both at each request.",
    resource: "Resource",
    actions: { create: "Create", read: "Read", update: "Update", delete: "Delete", execute: "Execute" },
    states: {
      all: "On all",
      some: "Only on the listed ones",
      lost: "Granted, but its API key lacks it",
      none: "Not granted",
      unknown: "Does not exist"
    },
    types: {
      event: "events",
      run: "runs, logs and counts",
      call: "calls, replays, cancellations and operations",
      stream: "live messages",
      webhook: "webhooks with a credential",
      mcp: "tools of models",
      project: "projects",
      build: "builds, deployments, pauses and alert rules",
      context: "secrets",
      file: "files",
      domain: "custom domains",
      key: "service keys and the audit log",
      session: "sessions",
      env: "the environment and its usage",
      eval: "source text"
    } as Record<string, string>
  }
}
