import atexit, logging, signal, sys, threading
from package.part import VALUE
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
log = logging.getLogger(__name__)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
atexit.register(lambda: print("RESULT at exit", flush=True))
worker = threading.Thread(target=lambda: log.info("works"))
worker.start()
worker.join()
log.warning("value %s in %s", VALUE, __name__)
print("RESULT", VALUE, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
