"""What holds beneath the shell: one kernel mechanism a module, and the plan that combines them.

Two kinds of modules. Those of the child (``kernel landlock seccomp privileges rlimits mounts namespaces enter exec_gate
exec_rules``) import the standard library only: the keeper of local shells runs them. Those of the server (``probe plan
derive describe``) decide, and send the child a plan. Nothing is imported here, so that the keeper starts fast.
"""
