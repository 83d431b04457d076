// Loaded before the gateway by a test: a fault that nobody catches, when the test says so.
process.on('SIGUSR2', () => {
  throw new Error('A fault with svc_sk_secret in its message');
});
