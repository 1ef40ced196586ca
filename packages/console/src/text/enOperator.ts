/** English texts of the operator's pages. */
export const enOperator = {
  operator: {
    title: "Operator",
    intro:
      "These pages show the whole server and need its admin token. The token stays in the memory of this page until you reload or lock it.",
    token: "Admin token",
    unlock: "Unlock",
    lock: "Lock",
    refused: "The server rejects this token, or it has no admin token.",
    pages: { orgs: "Organizations", node: "Node", quarantine: "Quarantine", plans: "Plans" },
    createOrg: "Create an organization",
    createOrgText: "Its slug is a part of the URLs of webhooks.",
    slug: "Slug",
    plan: "Plan",
    changePlan: "Change the plan",
    changePlanText: "The limits of the new plan hold at once.",
    storedRuns: "Stored runs",
    members: "Members",
    environments: "Environments",
    noEnvironments: "This organization has no environment.",
    createEnv: "Create an environment",
    noOrgsTitle: "No organization yet",
    noOrgs: "Create one here, or with `weft admin orgs create`.",
    nodeIntro: (version: string, sha: string, start: string) =>
      `The node that answered: version ${version} (${sha}), started ${start}. Behind a load balancer it may be another one next time.`,
    tiles: {
      deliveries_running: "Running deliveries",
      deliveries_waiting: "Pending deliveries",
      records_pending: "Pending records",
      subscriptions: "Subscriptions",
      sandbox_runner_deaths_total: "Runner deaths",
      sandbox_quarantined: "Quarantined builds"
    },
    metrics: "Metrics",
    value: "Value",
    meaning: "Meaning",
    quarantineIntro:
      "A node stops running a build that repeatedly ends its runner process. Entries are from the audit log; a quarantine also ends when the node restarts.",
    noQuarantineTitle: "No build was quarantined",
    noQuarantine: "A build is listed here after it has repeatedly ended its runner process.",
    reason: "Reason",
    lifted: "Lifted",
    release: "Lift",
    releaseTitle: "Lift the quarantine of this build",
    releaseText: "All nodes run the build again. If it ends its runner process again, it is quarantined again.",
    released: "The quarantine is lifted",
    plansIntro: "The limits hold for each organization, over all its environments. A host can override them.",
    limit: "Limit",
    limits: {
      requests_per_second: "Requests per second",
      host_calls_per_second: "Calls of functions per second",
      max_file_bytes: "Size of a file",
      runs_per_month: "Runs per month",
      storage_bytes: "File storage",
      team_members: "Members",
      call_retention_days: "Days that runs are stored",
      call_storage_bytes: "Results and logs",
      domains: "Domains",
      max_chain_depth: "Depth of a chain of events",
      max_steps_per_run: "Steps of a durable run",
      max_step_result_bytes: "Result of a step",
      max_suspended_runs: "Suspended runs",
      max_pending_deliveries: "Pending deliveries",
      max_schedules: "Schedules"
    }
  }
}
